"""Professor forcing (Goyal et al. 2016): free running is to look like forced running to a judge of states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import nn
from torch.nn.functional import softplus
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from elman.decoding.sequence_model import SequenceModel, Sequences
from elman.objectives.auxiliary_network import AuxiliaryNetwork, mean_over_processes
from elman.objectives.objective import Objective
from elman.objectives.sample_sequences import Sampler, draw_samples
from elman.ranges import NonNegativeFloat, PositiveFloat, Probability, Size, check_ranges
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
        ys, _ = pad_packed_sequence(self.read(packed)[0], batch_first=True, total_length=hs.shape[1])
        steps: Tensor = self.judge(ys)[..., 0]
        return (steps * mask).sum(1) / lengths


@dataclass(frozen=True)
class ProfessorConfig:
    """Hidden states that do not tell whether gold or the model's own tokens were read."""

    kind: Literal["professor"] = "professor"
    weight: NonNegativeFloat = 1.0  # of fooling the discriminator, beside maximum likelihood
    hidden: Size = 128  # units of the discriminator, in each direction
    lr: PositiveFloat = 1e-3  # its learning rate
    low: Probability = 0.75  # the model learns from it where its accuracy is above
    high: Probability = 0.99  # and it learns itself where that is below

    def __post_init__(self) -> None:
        check_ranges(self)

    def build(self, model: SequenceModel[Any]) -> ProfessorForcing:
        """The objective for this model."""
        gates = (self.low, self.high)
        return ProfessorForcing(model.features, weight=self.weight, hidden=self.hidden, lr=self.lr, gates=gates)


class ProfessorForcing(Objective):
    """L = MLE + w · [accuracy > low] · mean -log D(states of free running).

    D is trained beside it by an optimizer of its own, on -log D(forced) - log(1 - D(free)), as long as its
    accuracy is below ``high``. Free running is a sample of the model, of gold's length at most; its states,
    computed in one pass, get the gradient.
    """

    metric_names = ("likelihood", "fooled", "discriminator", "accuracy")

    def __init__(
        self,
        features: int,
        *,
        weight: float,
        hidden: int,
        lr: float,
        gates: tuple[float, float] = (0.75, 0.99),
        sampler: Sampler = draw_samples,
    ) -> None:
        super().__init__()
        self.discriminator = AuxiliaryNetwork(Discriminator(features, hidden), lr)
        self.weight, self.gates, self.sampler = weight, gates, sampler

    def forward(self, model: SequenceModel[Any], batch: Any, progress: float) -> Float[Tensor, ""]:
        gold = model.targets(batch)
        free = self.sampler(model, batch, 1, False, None).samples
        free = Sequences(*(part[:, : gold.mask.shape[1]] for part in free))
        with torch.no_grad():
            forced_hs = model.states(batch, gold).float()
        free_hs = model.states(batch, free).float()
        with torch.autocast(free_hs.device.type, enabled=False):
            fooled, accuracy = self._discriminate(forced_hs, gold.mask, free_hs, free.mask)
            low, high = self.gates
            real, own = (forced_hs, gold.mask), (free_hs.detach(), free.mask)
            value = self.discriminator.train_step(
                lambda call: softplus(-call(*real)).mean() + softplus(call(*own)).mean(),
                (accuracy < high).float(),
            )
        likelihood = model.likelihood(batch)
        self.log(likelihood, fooled, value, accuracy)
        gated: Tensor = self.weight * (accuracy > low) * fooled
        return likelihood + gated

    def _discriminate(self, forced: Tensor, mask: Tensor, free: Tensor, free_mask: Tensor) -> Any:
        """How free running is taken for what it is, and the share of both that is told apart."""
        own = self.discriminator(free, free_mask)
        with torch.no_grad():
            right = torch.cat([self.discriminator(forced, mask) > 0, own <= 0])
        return softplus(-own).mean(), mean_over_processes(right.float().mean())
