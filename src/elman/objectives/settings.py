"""The objectives as configuration: ``objective.kind`` chooses one, its other keys are the fields here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from elman.decoding.generative import Generative
from elman.errors import ConfigError
from elman.objectives.baseline import Baseline, Learned, SelfCritical
from elman.objectives.costs import COSTS
from elman.objectives.mixer import Mixer
from elman.objectives.objective import Objective
from elman.objectives.professor import ProfessorForcing
from elman.objectives.reinforce import Reinforce
from elman.objectives.risk import MinimumRisk
from elman.objectives.sampling import draw
from elman.objectives.scheduled import OTHERS, Scheduled
from elman.objectives.schedules import CURVES

CostName = Literal["bleu", "edits", "exact"]


@dataclass(frozen=True)
class LikelihoodSettings:
    """Maximum likelihood: the loss of the task itself."""

    kind: Literal["likelihood"] = "likelihood"


@dataclass(frozen=True)
class ScheduledSettings:
    """Teacher forcing with a probability that falls."""

    kind: Literal["scheduled"] = "scheduled"
    schedule: Literal["constant", "linear", "inverse_sigmoid", "exponential"] = "linear"
    first: float = 1.0  # probability of the right token when the run begins; constant has none
    last: float = 0.7  # and when it ends
    other: Literal["argmax", "sample", "mixture"] = "sample"  # what is fed back otherwise

    def __post_init__(self) -> None:
        for name in ("first", "last"):
            _share(name, getattr(self, name))
        if self.schedule == "constant" and self.first != 1:
            raise ConfigError(
                "first is where a schedule begins to fall; a constant one is all last"
            )
        if self.schedule == "exponential" and not self.last:
            raise ConfigError("last is 0, which an exponential schedule never reaches")

    def build(self, model: Generative[Any]) -> Objective:
        curve = CURVES[self.schedule]
        return Scheduled(lambda x: curve(x, self.first, self.last), OTHERS[self.other])


@dataclass(frozen=True)
class RiskSettings:
    """The expected cost of what the model would write."""

    kind: Literal["risk"] = "risk"
    cost: CostName = "bleu"
    samples: int = 8  # for each example
    alpha: float = 0.5  # sharpness: 1 weighs candidates by probability, 0 all alike
    temperature: float = 0.6  # at which candidates are drawn; 1: as the model has it
    reference: bool = False  # the right answer is a candidate, too
    likelihood: float = 0.0  # share of the loss that is maximum likelihood

    def __post_init__(self) -> None:
        _positive("samples", self.samples)
        _share("likelihood", self.likelihood)
        if not self.alpha > 0:
            raise ConfigError(f"alpha is {self.alpha}; it must be above 0")
        if not self.temperature > 0:
            raise ConfigError(f"temperature is {self.temperature}; it must be above 0")
        if self.samples + self.reference < 2:
            raise ConfigError("samples is 1, and nothing to compare it with: take 2, or reference")

    def build(self, model: Generative[Any]) -> Objective:
        return MinimumRisk(
            COSTS[self.cost],
            samples=self.samples,
            alpha=self.alpha,
            reference=self.reference,
            likelihood=self.likelihood,
            sampler=partial(draw, temperature=self.temperature),
        )


@dataclass(frozen=True)
class ReinforceSettings:
    """Reward for what is better than expected."""

    kind: Literal["reinforce"] = "reinforce"
    cost: CostName = "bleu"
    samples: int = 4  # for each example
    baseline: Literal["greedy", "learned"] = "greedy"
    rate: float = 1e-2  # learning rate of a learned baseline
    entropy: float = 0.0  # what a nat of entropy is worth
    likelihood: float = 0.0  # share of the loss that is maximum likelihood

    def __post_init__(self) -> None:
        _positive("samples", self.samples)
        _share("likelihood", self.likelihood)
        _rewarded(self.rate, self.entropy)

    def build(self, model: Generative[Any]) -> Objective:
        return Reinforce(
            COSTS[self.cost],
            _baseline(self.baseline, model, self.rate),
            samples=self.samples,
            entropy=self.entropy,
            likelihood=self.likelihood,
        )


@dataclass(frozen=True)
class MixerSettings:
    """From likelihood to reward, the last steps of a sequence first."""

    kind: Literal["mixer"] = "mixer"
    cost: CostName = "bleu"
    delta: int = 2  # steps that the model takes itself at first, and more each time
    start: float = 0.0  # share of the run before that
    every: float = 0.1  # share of the run until more steps follow
    samples: int = 1  # for each example
    baseline: Literal["greedy", "learned"] = "learned"
    rate: float = 1e-2  # learning rate of a learned baseline
    entropy: float = 0.0  # what a nat of entropy is worth

    def __post_init__(self) -> None:
        _positive("delta", self.delta)
        _positive("samples", self.samples)
        _share("start", self.start)
        if not 0 < self.every <= 1:
            raise ConfigError(f"every is {self.every}; it must be above 0 and at most 1")
        _rewarded(self.rate, self.entropy)

    def build(self, model: Generative[Any]) -> Objective:
        return Mixer(
            COSTS[self.cost],
            _baseline(self.baseline, model, self.rate),
            delta=self.delta,
            start=self.start,
            every=self.every,
            samples=self.samples,
            entropy=self.entropy,
        )


@dataclass(frozen=True)
class ProfessorSettings:
    """Hidden states that do not tell whether gold or the model's own tokens were read."""

    kind: Literal["professor"] = "professor"
    weight: float = 1.0  # of fooling the discriminator, beside maximum likelihood
    hidden: int = 128  # units of the discriminator, in each direction
    rate: float = 1e-3  # its learning rate
    low: float = 0.75  # the model learns from it where its accuracy is above
    high: float = 0.99  # and it learns itself where that is below

    def __post_init__(self) -> None:
        _positive("hidden", self.hidden)
        _share("low", self.low)
        _share("high", self.high)
        if self.weight < 0:
            raise ConfigError(f"weight is {self.weight}; it must be at least 0")
        _rewarded(self.rate, 0.0)

    def build(self, model: Generative[Any]) -> Objective:
        gates = (self.low, self.high)
        return ProfessorForcing(
            model.features, weight=self.weight, hidden=self.hidden, rate=self.rate, gates=gates
        )


Settings = (
    LikelihoodSettings
    | ScheduledSettings
    | RiskSettings
    | ReinforceSettings
    | MixerSettings
    | ProfessorSettings
)


def _baseline(name: str, model: Generative[Any], rate: float) -> Baseline:
    return SelfCritical() if name == "greedy" else Learned(model.features, rate)


def _share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ConfigError(f"{name} is {value}; it must be from 0 to 1")


def _positive(name: str, value: int) -> None:
    if value < 1:
        raise ConfigError(f"{name} is {value}; it must be at least 1")


def _rewarded(rate: float, entropy: float) -> None:
    if not rate > 0:
        raise ConfigError(f"rate is {rate}; it must be above 0")
    if entropy < 0:
        raise ConfigError(f"entropy is {entropy}; it must be at least 0")
