"""What a reward is compared with, so that only what is better than expected becomes likelier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from torch import nn

from elman.decoding.sequence_model import SequenceModel
from elman.objectives.auxiliary_network import AuxiliaryNetwork
from elman.shapes import Bool, Float, Tensor


@dataclass(frozen=True)
class Trial:
    """Sequences that were written and what they earned."""

    hs: Float[Tensor, "N T H"]  # what each token was predicted from
    free: Bool[Tensor, "N T"]  # true on tokens that the model chose
    rewards: Float[Tensor, " N"]
    greedy: Float[Tensor, " N"] | None  # what the greedy sequence of the same example earned


@runtime_checkable
class Baseline(Protocol):
    """An expectation of the reward before each token, which must not depend on that token or later ones."""

    greedy: bool  # whether greedy sequences must be written for it

    def __call__(self, trial: Trial) -> Float[Tensor, "N T"]: ...


class SelfCriticalBaseline(nn.Module):
    """The reward of the model's own greedy sequence (Rennie et al. 2017)."""

    greedy = True

    def forward(self, trial: Trial) -> Float[Tensor, "N T"]:
        assert trial.greedy is not None
        return trial.greedy[:, None].expand_as(trial.free)


class LearnedBaseline(nn.Module):
    """b_t = w · h_t + c, regressed on rewards as they come (Ranzato et al. 2016); h_t gets no gradient."""

    greedy = False

    def __init__(self, features: int, lr: float) -> None:
        super().__init__()
        linear = nn.Linear(features, 1)
        nn.init.zeros_(linear.weight)
        nn.init.zeros_(linear.bias)
        self.linear = AuxiliaryNetwork(linear, lr)

    def forward(self, trial: Trial) -> Float[Tensor, "N T"]:
        hs, free = trial.hs.detach().float(), trial.free
        expected: Tensor = self.linear(hs)[..., 0]
        rewards = trial.rewards[:, None].to(hs)
        self.linear.train_step(
            lambda call: ((call(hs)[..., 0] - rewards).square() * free).sum() / free.sum().clamp(min=1)
        )
        return expected


def build_baseline(name: Literal["greedy", "learned"], model: SequenceModel[Any], lr: float) -> Baseline:
    """The baseline of a configuration; ``lr`` is the learning rate of a learned one."""
    return SelfCriticalBaseline() if name == "greedy" else LearnedBaseline(model.features, lr)
