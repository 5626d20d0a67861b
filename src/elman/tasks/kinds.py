"""The tasks, and what all of them offer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from torch import nn

from elman.shapes import Tensor
from elman.tasks import classifier, language_model, seq2seq, tagger
from elman.tasks.classifier import Classifier
from elman.tasks.language_model import LanguageModel
from elman.tasks.seq2seq import Seq2Seq
from elman.tasks.tagger import Tagger


@runtime_checkable
class Task(Protocol):
    """Text to tensors and back around a network. Examples, encoded data and options are its own."""

    unit: str  # of what is trained on
    batches_an_epoch: int  # where nothing is said, so many: a few hundred lines need them, too

    @property
    def metric(self) -> str:
        """The score that tells the best weights."""

    @property
    def best(self) -> Literal["max", "min"]:
        """Which of two values of it is better."""

    @property
    def model(self) -> Any:
        """Its options."""

    @property
    def net(self) -> nn.Module:
        """Its network."""

    def adopt(self, folder: Path) -> None:
        """Take the vocabularies that were stored, if they are of the same data."""

    def store(self, folder: Path) -> None:
        """Write what is not weights."""

    def encode(self, examples: Iterable[Any]) -> Any:
        """Examples as numbers."""

    def knows(self, example: Any) -> bool:
        """Whether an example that was held out can be judged."""

    def learn_from(self, data: Any) -> None:
        """Remember what the loss needs to know of all training data."""

    def loss(self, batch: Any, progress: float) -> Tensor:
        """A mean over a batch."""

    def weight(self, batch: Any) -> float:
        """How much the loss of a batch is the mean of."""

    def judge(self, data: Any) -> dict[str, float]:
        """The scores by which weights are chosen in training, that of ``metric`` among them."""

    def evaluate(self, data: Any) -> dict[str, float]:
        """The scores to report."""

    def described(self) -> tuple[str, str, list[str]]:
        """For the model card: what it is, how it is called, and lines on its make."""


class Kind(NamedTuple):
    """How a task is made and fed."""

    model: type[Any]
    data: type[Any]
    read: Callable[..., Any]  # (data, source, train=False): examples one by one, or a Text
    fresh: Callable[[Any, Any, Any], Task]  # (model, tokens, examples)
    restore: Callable[[Any, Path, Mapping[str, Tensor]], Task]


TASKS: dict[str, Kind] = {
    "classifier": Kind(
        classifier.Model,
        classifier.Data,
        classifier.read,
        Classifier.fresh,
        Classifier.restore,
    ),
    "lm": Kind(
        language_model.Model,
        language_model.Data,
        language_model.read,
        LanguageModel.fresh,
        LanguageModel.restore,
    ),
    "seq2seq": Kind(
        seq2seq.Model,
        seq2seq.Data,
        seq2seq.read,
        Seq2Seq.fresh,
        Seq2Seq.restore,
    ),
    "tagger": Kind(tagger.Model, tagger.Data, tagger.read, Tagger.fresh, Tagger.restore),
}
"""By the name that a recipe and a model folder say."""
