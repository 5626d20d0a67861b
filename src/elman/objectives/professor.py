"""Professor forcing (Goyal et al. 2016): free running is to look like forced running to a judge of states."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn.functional import softplus
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from elman.decoding.generative import Generative, Sequences
from elman.objectives.apprentice import Apprentice, together
from elman.objectives.objective import Objective
from elman.objectives.sampling import Sampler, draw
from elman.shapes import Bool, Float, Tensor


class Discriminator(nn.Module):
    """How surely a sequence of hidden states comes from forced running, in nats: a bidirectional GRU over
    them, two layers on its outputs, the mean over the steps."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.read = nn.GRU(features, hidden, batch_first=True, bidirectional=True)
        self.judge = nn.Sequential(nn.Linear(2 * hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, hs: Float[Tensor, "N T H"], mask: Bool[Tensor, "N T"]) -> Float[Tensor, " N"]:
        lengths = mask.sum(1).clamp(min=1)
        packed = pack_padded_sequence(hs, lengths.cpu(), batch_first=True, enforce_sorted=False)
        ys, _ = pad_packed_sequence(
            self.read(packed)[0], batch_first=True, total_length=hs.shape[1]
        )
        steps: Tensor = self.judge(ys)[..., 0]
        return (steps * mask).sum(1) / lengths


class ProfessorForcing(Objective):
    """L = MLE + w · [accuracy > low] · mean -log D(states of free running).

    D is trained beside it by an optimizer of its own, on -log D(forced) - log(1 - D(free)), as long as its
    accuracy is below ``high``. Free running is a sample of the model, of gold's length at most; its states,
    computed in one pass, get the gradient.
    """

    names = ("likelihood", "fooled", "discriminator", "accuracy")

    def __init__(
        self,
        features: int,
        *,
        weight: float,
        hidden: int,
        rate: float,
        gates: tuple[float, float] = (0.75, 0.99),
        sampler: Sampler = draw,
    ) -> None:
        super().__init__()
        self.discriminator = Apprentice(Discriminator(features, hidden), rate)
        self.weight, self.gates, self.sampler = weight, gates, sampler

    def forward(self, model: Generative[Any], batch: Any, progress: float) -> Float[Tensor, ""]:
        gold = model.gold(batch)
        free = self.sampler(model, batch, 1, False, None).samples
        free = Sequences(*(part[:, : gold.mask.shape[1]] for part in free))
        with torch.no_grad():
            forced_hs = model.states(batch, gold).float()
        free_hs = model.states(batch, free).float()
        with torch.autocast(free_hs.device.type, enabled=False):
            fooled, accuracy = self._seen(forced_hs, gold.mask, free_hs, free.mask)
            low, high = self.gates
            value = self._teach(forced_hs, gold.mask, free_hs.detach(), free.mask, accuracy < high)
        likelihood = model.likelihood(batch)
        self.note(likelihood, fooled, value, accuracy)
        gated: Tensor = self.weight * (accuracy > low) * fooled
        return likelihood + gated

    def _seen(self, forced: Tensor, mask: Tensor, free: Tensor, free_mask: Tensor) -> Any:
        """How free running is taken for what it is, and the share of both that is told apart."""
        own = self.discriminator(free, free_mask)
        with torch.no_grad():
            right = torch.cat([self.discriminator(forced, mask) > 0, own <= 0])
        return softplus(-own).mean(), together(right.float().mean())

    def _teach(
        self, forced: Tensor, mask: Tensor, free: Tensor, free_mask: Tensor, open_: Tensor
    ) -> Tensor:
        def loss(call: Any) -> Tensor:
            taken: Tensor = softplus(-call(forced, mask)).mean()
            told: Tensor = softplus(call(free, free_mask)).mean()
            return taken + told

        return self.discriminator.learn(loss, open_.float())
