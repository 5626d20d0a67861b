"""What is measured of exposure bias: sums over sequences, means by position, and a picture of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from elman.inspect.plots import new_figure, save_figure, set_heading
from elman.shapes import Bool, Float, Tensor

Curve = NDArray[np.float64]
FEWEST = 5  # sequences that a position must have to be drawn


@dataclass(frozen=True)
class PositionCurves:
    """One way to run a model: means by position, the first first."""

    nats: Curve  # -log p: of gold when forced, of what it wrote itself when free
    right: Curve  # share of what it would write that is right
    counts: Curve  # sequences that are so long


@dataclass(frozen=True)
class Exposure:
    """What was measured.

    Right is, where the t-th token answers to the t-th of gold (tags, running text), the same token; elsewhere
    one that follows in gold the token that it follows here.
    """

    forced: PositionCurves
    free: PositionCurves
    excess: Curve  # of -log p(gold) after k = 1, 2, … tokens of its own, over that after gold
    counts: Curve  # places where that was looked at
    sequences: int

    @property
    def cumulative(self) -> Curve:
        """Σ_{j≤k} excess_j: what k steps by oneself have cost, in nats."""
        total: Curve = np.cumsum(self.excess)
        return total

    @property
    def bias(self) -> float:
        """The mean excess over k, in nats a token: one number to compare models by."""
        return float(self.excess.mean()) if len(self.excess) else 0.0


class PositionSums:
    """Sums by position of as many sequences as come."""

    def __init__(self) -> None:
        self.sums = np.zeros((3, 0))

    def add(self, nats: Float[Tensor, "B T"], right: Float[Tensor, "B T"], mask: Bool[Tensor, "B T"]) -> None:
        measured = (nats, right, torch.ones_like(nats))
        new = torch.stack([torch.where(mask, part, 0).double().sum(0) for part in measured]).cpu().numpy()
        width = max(new.shape[1], self.sums.shape[1])
        old, new = (np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in (self.sums, new))
        self.sums = old + new

    def curves(self) -> PositionCurves:
        nats, right, counts = self.sums[:, self.sums[2] > 0]
        return PositionCurves(nats / counts, right / counts, counts)


def plot_exposure_curves(found: Exposure, path: Path, *, about: str = "") -> None:
    """Costs and rights by position, forced and free; the error that own tokens accumulate."""
    fig, (costs, rights, after) = new_figure(3, width=5.0, height=3.6)
    for name, run in (("teacher forcing", found.forced), ("free running", found.free)):
        some = run.counts >= min(FEWEST, run.counts.max(initial=0))
        places = [i + 1 for i, enough in enumerate(some) if enough]
        costs.plot(places, run.nats[some], marker=".", label=name)
        rights.plot(places, 100 * run.right[some], marker=".", label=name)
    costs.set(title="Cost of a token", xlabel="position", ylabel="-log p, nats")
    rights.set(title="Accuracy", xlabel="position", ylabel="correct tokens, %")
    steps = range(1, len(found.excess) + 1)
    after.bar(steps, found.excess, color="C3", label="each step")
    after.plot(steps, found.cumulative, color="black", marker=".", label="accumulated")
    after.set(title="Extra cost of a token after k own tokens", xlabel="k, number of own tokens read before")
    after.set_ylabel("nats more than after the right tokens")
    for ax in (costs, rights, after):
        ax.legend(fontsize=8)
        ax.grid(alpha=0.3)
        ax.set_axisbelow(True)
        ax.xaxis.get_major_locator().set_params(integer=True)
    set_heading(fig, about, "")
    save_figure(fig, path)
