"""Truncated backpropagation: windows of parallel streams, the state carried from one to the next."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from elman.layers.cross_entropy import weighted_mean
from elman.shapes import Bool, Float, Int, Tensor
from elman.tasks.language.model import Model
from elman.tasks.language.network import Network


@dataclass(frozen=True)
class Batch:
    """A window of parallel streams: ``targets[b, t]`` follows ``ids[b, t]``; the mask says what counts."""

    ids: Int[Tensor, "B T"]
    targets: Int[Tensor, "B T"]
    mask: Bool[Tensor, "B T"]
    weight: float = field(compare=False)  # tokens that count, known without asking the device

    def pick(self, rows: slice) -> Batch:
        """Some of the streams."""
        mask = self.mask[rows]
        return Batch(self.ids[rows], self.targets[rows], mask, float(mask.sum()))


class Truncated:
    """The loss of truncated backpropagation: a window's, given the state that the one before left.

    L = mean(-log p(w_{t+1} | …)) + α mean(h̃²) + β mean((h_t - h_{t-1})²): h are the last layer's outputs, h̃
    the same after dropout (Merity et al. 2017). Where nothing counts, all does: there is a finite loss.
    """

    def __init__(self, net: Network, model: Model) -> None:
        self.net, self.alpha, self.beta = net, model.alpha, model.beta

    def begin(self, batch: Batch) -> Any:
        return self.net.begin(len(batch.ids))

    def __call__(self, batch: Batch, progress: float, state: Any) -> tuple[Tensor, Any]:
        state, hs = self.net.read(state, batch.ids)
        kept = self.net.drop(hs)
        mask = batch.mask | ~batch.mask.any()
        # Time first, as it lies in memory: nothing is copied.
        loss = self.net.output.loss(kept.transpose(0, 1), batch.targets.t(), mask.t())
        if self.alpha:
            loss = loss + self.alpha * weighted_mean(_squared(kept), mask)
        if self.beta and hs.shape[1] > 1:
            change = _squared(hs[:, 1:].float() - hs[:, :-1].float())
            loss = loss + self.beta * (change * mask[:, 1:]).sum() / mask[:, 1:].sum().clamp(min=1)
        return loss, state


def _squared(hs: Float[Tensor, "B T H"]) -> Float[Tensor, "B T"]:
    return hs.float().square().mean(-1)
