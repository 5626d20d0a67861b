"""The door of a task: all that pipeline, inspection, command line and demos may ask of any of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import torch

from elman.errors import ConfigError, DataError
from elman.shapes import Tensor
from elman.tasks.config import DataConfig
from elman.tasks.results import Answer, CardInfo, Report, TextTrace
from elman.tasks.user_methods import Row, UserMethods
from elman.text.batching import BucketBatches
from elman.text.files import read_lines

Progress = Callable[[str, int, int | None], None]  # what is done, how much of it, of how much


class TaskDefaults(NamedTuple):
    """The sections of a task's recipes, and what they say where a recipe says nothing."""

    data: Any
    tokens: Any
    model: Any
    training: Mapping[str, Any]
    objectives: bool = True  # whether a recipe may choose another objective than likelihood


class PredictOptions(NamedTuple):
    """How ``elman predict`` was asked."""

    chunks: Callable[[Iterable[Any]], Iterator[list[Any]]]  # what comes in, some at a time
    n_best: int = 1
    as_json: bool = False
    format: str | None = None
    encoding: str = "utf-8"
    decoding: Mapping[str, Any] = MappingProxyType({})  # how to search for an answer
    others: Sequence[Any] = ()  # models that answer together with this one
    align: bool = False  # whether to say where the model looked


class Task(UserMethods[Row], ABC):
    """Text to tensors and back around a network. Examples, datasets and options are its own."""

    unit: ClassVar[str] = "examples"  # of what is trained on
    batches_per_epoch: ClassVar[int] = 100  # where no batch size is given, this many
    predict_options: ClassVar[frozenset[str]] = frozenset({"n_best"})  # what predict understands
    evaluate_options: ClassVar[frozenset[str]] = frozenset()  # and what evaluate does

    config: Any

    @property
    @abstractmethod
    def metric(self) -> str:
        """The score that chooses the best weights."""

    @property
    def best(self) -> Literal["max", "min"]:
        """Which of two values of ``metric`` is better."""
        return "max"

    @staticmethod
    @abstractmethod
    def read(data: Any, source: str | tuple[str, ...], *, train: bool = False) -> Any:
        """The examples of a file, or of several that belong together."""

    @classmethod
    def split(cls, data: Any) -> tuple[Any, Any]:
        """What to train on and what to validate on, which is held out of it where no file is given."""
        examples = list(cls.read(data, data.train, train=True))
        if data.valid:
            return examples, list(cls.read(data, data.valid))
        return hold_out(examples, data)

    @classmethod
    def with_progress(cls, examples: Any, report: Progress) -> Any:
        """The examples with someone to report to while they are read, where that takes long."""
        return examples

    @classmethod
    def check_objective(cls, config: Any, objective: str) -> None:
        """Refuse options that this kind of objective would ignore."""

    @classmethod
    @abstractmethod
    def from_examples(cls, config: Any, tokens: Any, examples: Any) -> Task:
        """An untrained model that knows the vocabulary of the examples."""

    @classmethod
    @abstractmethod
    def from_folder(cls, config: Any, folder: Path, weights: Mapping[str, Tensor]) -> Task:
        """The model whose vocabulary is in the folder, sized by these weights."""

    @abstractmethod
    def save_vocab(self, folder: Path) -> None:
        """Write what is not weights."""

    @abstractmethod
    def reuse_vocab(self, folder: Path) -> None:
        """Take the vocabulary that was saved, if it is of the same data."""

    @abstractmethod
    def encode(self, examples: Any) -> Any:
        """Examples as a dataset of numbers."""

    def encode_valid(self, data: Any, examples: Any) -> Any:
        """What is validated on: all of a file, or of what was held out what can be evaluated."""
        return self.encode(examples if data.valid else [e for e in examples if self.can_evaluate(e)])

    def can_evaluate(self, example: Any) -> bool:
        """Whether an example that was held out can be evaluated."""
        return True

    def fit_statistics(self, dataset: Any) -> None:
        """Remember what the loss needs to know of all training data."""

    def build_batches(self, dataset: Any, data: Any, seed: int) -> Any:
        """The batches of training, as ``fit`` wants them."""
        fitting = int(np.sum(dataset.lengths)) // self.batches_per_epoch
        tokens = data.batch_tokens or min(2048, max(128, fitting))
        return BucketBatches(dataset, tokens, seed, self.weight)

    def dataset_stats(self, dataset: Any) -> dict[str, int]:
        """How much there is to learn from."""
        return {"examples": len(dataset), "tokens": int(np.sum(dataset.lengths))}

    @abstractmethod
    def loss(self, batch: Any, progress: float) -> Tensor:
        """The mean loss of a batch."""

    @property
    def training_loss(self) -> Any:
        """The loss of training: ``loss``, or one that carries a state from batch to batch."""
        return self.loss

    def weight(self, batch: Any) -> float:
        """How much the loss of a batch is the mean of."""
        return len(batch)

    def sequence_model(self) -> Any:
        """A `TaskSequenceModel`: the task as objectives and exposure bias see it, where it writes."""
        raise ConfigError(f"a {self.spec.name} writes no sequence: objectives are not for it")

    def validate(self, dataset: Any) -> dict[str, float]:
        """The scores of an evaluation in training, that of ``metric`` among them."""
        return self.evaluate_dataset(dataset)

    @abstractmethod
    def evaluate_dataset(self, dataset: Any) -> dict[str, float]:
        """The scores of a dataset."""

    def report(self, dataset: Any, progress: Progress, **options: Any) -> Report:
        """What ``elman evaluate`` says; options are those of ``evaluate_options``."""
        return Report(self.evaluate_dataset(dataset))

    def predict_file(self, file: str, options: PredictOptions) -> Iterator[Answer]:
        """An answer to each line of a file."""
        lines = (line for _, line in read_lines(file, encoding=options.encoding))
        for some in options.chunks(lines):
            yield from self.predict_lines(some, options)

    def predict_lines(self, lines: Sequence[str], options: PredictOptions) -> Iterator[Answer]:
        """An answer to each line."""
        raise ConfigError(f"elman predict is not for {self.spec.title}")

    @abstractmethod
    def trace(self, text: str, word: int | None) -> TextTrace:
        """What inspection needs while the model reads a text; ``word``, from 1, chooses one of its answers."""

    @abstractmethod
    def card_info(self) -> CardInfo:
        """For the model card."""

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.net.parameters()).device


def hold_out(examples: list[Any], data: DataConfig) -> tuple[list[Any], list[Any]]:
    """All but a share of the examples, and these, which are drawn at random but always the same."""
    if not data.holdout:
        return examples, []
    count = max(1, int(len(examples) * data.holdout))
    if count >= len(examples):
        raise DataError(f"{data.train}: too few examples ({len(examples)}) to hold any out")
    held = set(np.random.default_rng(0).permutation(len(examples))[:count].tolist())
    return [e for i, e in enumerate(examples) if i not in held], [examples[i] for i in sorted(held)]
