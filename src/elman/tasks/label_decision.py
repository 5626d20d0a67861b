"""From logits to an answer: what a softmax over labels and a sigmoid for each label have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from elman.shapes import Float, Tensor
from elman.tasks.label_data import LabeledExample
from elman.tasks.results import Confidences, Report
from elman.tasks.temperature import Calibration
from elman.text.vocab import Labels

Logits = Float[Tensor, "N Y"]


class Prediction(NamedTuple):
    """What a text is labelled, and the probability of every label, likeliest first.

    Of several labels, ``label`` is all of them, joined by the delimiter of the data.
    """

    label: str
    probabilities: dict[str, float]
    labels: tuple[str, ...]
    confidence: float  # the probability of the label; of several, that of exactly these


class LabelAnswers(NamedTuple):
    """What a network says of examples, the right answers, and the names of the labels."""

    logits: Logits
    golds: Sequence[Any]  # as a decision encodes them
    names: Sequence[str]


class Contrast(NamedTuple):
    """Why this answer rather than the other? Its margin is a function of logits (N, Y)."""

    answer: str
    other: str
    margin: Callable[[Tensor], Tensor]


class LossOptions(NamedTuple):
    """How labels count in training: what is spread over all of them, and by how much each is weighed."""

    smoothing: float = 0.0
    weights: Tensor | None = None


@dataclass(frozen=True)
class Decision(ABC):
    """How logits become probabilities and these an answer. Gold labels are as ``encode`` gives them."""

    calibration: Calibration = field(default_factory=Calibration)

    kind: ClassVar[str]  # in the model folder
    gives: ClassVar[str]  # for people: "one label a text"
    metrics: ClassVar[tuple[str, ...]]  # the scores that may choose the best weights, the usual one first

    @property
    def temperature(self) -> float:
        """What logits are divided by."""
        return self.calibration.temperature

    @abstractmethod
    def encode(self, example: LabeledExample, labels: Labels) -> Any:
        """The right answer to an example."""

    @abstractmethod
    def weigh(self, golds: Sequence[Any], labels: int) -> Float[Tensor, " Y"]:
        """What each label counts so that rare ones count as much as frequent ones."""

    @abstractmethod
    def tabulate(self, golds: Sequence[Any], labels: int) -> Tensor:
        """Right answers as a tensor of a row each, for a loss that is asked for often."""

    @abstractmethod
    def loss(self, logits: Logits, golds: Sequence[Any] | Tensor, options: LossOptions) -> Float[Tensor, ""]:
        """The mean of -log p of the right answers, without the temperature; these may be tabulated."""

    @abstractmethod
    def weight(self, golds: Sequence[Any], weights: Tensor | None) -> float:
        """How much the loss is the mean of."""

    @abstractmethod
    def log_probs(self, logits: Logits) -> Logits:
        """log p of every label, in double precision and never above 0."""

    @abstractmethod
    def decide(self, logits: Logits, names: Sequence[str]) -> list[Any]:
        """The answers, as ``encode`` gives right ones."""

    @abstractmethod
    def join(self, gold: Any, names: Sequence[str]) -> str:
        """An answer as text."""

    @abstractmethod
    def predict(self, logits: Logits, names: Sequence[str]) -> list[Prediction]:
        """The answers with the probability of every label."""

    @abstractmethod
    def withhold(self, prediction: Prediction, threshold: float, otherwise: str) -> Prediction:
        """The prediction without labels that are less likely than ``threshold``."""

    @abstractmethod
    def confidences(self, answers: LabelAnswers) -> Confidences:
        """The probabilities whose calibration is measured."""

    @abstractmethod
    def report(self, answers: LabelAnswers) -> Report:
        """The scores, and tables by label."""

    def validate(self, answers: LabelAnswers) -> dict[str, float]:
        """The scores of an evaluation in training."""
        return dict(self.report(answers).scores)

    @abstractmethod
    def calibrate(self, answers: LabelAnswers) -> Decision:
        """The decision with what fits these examples best."""

    @abstractmethod
    def reset(self) -> Decision:
        """The decision as it is before any calibration."""

    @abstractmethod
    def mean(self, others: Sequence[Any]) -> Decision:
        """The decision of a mean of models."""

    @abstractmethod
    def contrast(self, logits: Logits, names: Sequence[str]) -> Contrast:
        """The likeliest answer to one text, and what to set it against."""

    @abstractmethod
    def facts(self, names: Sequence[str]) -> list[str]:
        """For the model card."""

    @abstractmethod
    def record(self, prediction: Prediction) -> dict[str, Any]:
        """A prediction as JSON has it."""

    def list_parts(self, names: Sequence[str]) -> dict[str, Any]:
        """What a runtime that is not Python needs to decide as this does."""
        return {"kind": self.kind, "temperature": self.temperature}

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """What ``decision.json`` holds; nothing where it is as untrained."""
