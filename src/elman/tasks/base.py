"""The door of a task: all that pipeline, inspection, command line and demos may ask of any of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import torch

from elman.errors import ConfigError, ModelError
from elman.layers.character_states import CharacterStates
from elman.shapes import Tensor
from elman.tasks.baseline_result import BaselineResult
from elman.tasks.data_facts import DataFacts, count_classes, measure_texts
from elman.tasks.folds import take_fold
from elman.tasks.growth import Growth
from elman.tasks.holdout import hold_out, warn_of_overlap
from elman.tasks.judgement import Judgement
from elman.tasks.nested_subset import nested_subset
from elman.tasks.results import Answer, CardInfo, Confidences, GuessedData, Report, TextTrace
from elman.tasks.user_methods import Row, UserMethods
from elman.text.batching import BucketBatches
from elman.text.byte_source import display_name
from elman.text.files import read_lines
from elman.text.length_limit import locate_long_texts
from elman.text.tables import amend_report

Progress = Callable[[str, int, int | None], None]  # what is done, how much of it, of how much


class TaskDefaults(NamedTuple):
    """The sections of a task's recipes, and what they say where a recipe says nothing."""

    data: Any
    tokens: Any
    model: Any
    training: Mapping[str, Any]
    pretraining: Any = None  # of an encoder that unlabelled text can train first
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
    trees: bool = False  # whether to say how each answer was searched for
    threshold: float = 0.0  # a label that is less likely than this
    otherwise: str = ""  # is not given, but this


class Task(UserMethods[Row], ABC):
    """Text to tensors and back around a network. Examples, datasets and options are its own."""

    unit: ClassVar[str] = "examples"  # of what is trained on
    noun: ClassVar[str] = "texts"  # what its examples are
    batches_per_epoch: ClassVar[int] = 100  # where no batch size is given, this many
    predict_options: ClassVar[frozenset[str]] = frozenset({"n_best"})  # what predict understands
    evaluate_options: ClassVar[frozenset[str]] = frozenset()  # and what evaluate does
    can_be_wrong: ClassVar[bool] = True  # whether it gives answers, of which some are mistakes
    text_columns: ClassVar[tuple[str, ...]] = ("text",)  # of a table; ``data`` may say what they are called
    search_holdout: ClassVar[float] = 0.2  # the part of its examples that judges the trials of a search

    config: Any

    @property
    def table_columns(self) -> tuple[str, ...]:
        """The columns of a table that are read: those of ``text_columns``, and what belongs to these."""
        return self.text_columns

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
        return cls.divide(list(cls.read(data, data.train, train=True)), data)

    @classmethod
    def split_fold(cls, data: Any) -> tuple[Any, Any, Any]:
        """What to train on, what to validate on, and the fold of the training data that is the test data."""
        examples = list(cls.read(data, data.train, train=True))
        others, fold = take_fold(examples, data, cls.content, cls.strata)
        return *cls.divide(others, data), fold

    @classmethod
    def divide(cls, examples: list[Any], data: Any) -> tuple[list[Any], list[Any]]:
        """Examples to train on, and those to validate on: of their file, or held out."""
        if data.valid:
            return examples, list(cls.read(data, data.valid))
        training, held, duplicates = hold_out(examples, data, cls.content, cls.strata)
        amend_report(0, duplicates=duplicates)
        return training, held

    @classmethod
    def take_share(cls, examples: Any, share: float) -> Any:
        """A part of the training examples; a smaller part is always in a larger one, and all labels in both."""
        return nested_subset(examples, share, cls.strata) if share < 1 else examples

    @classmethod
    def read_test(cls, data: Any) -> Any:
        """What to score at the end; None where no file is given."""
        return list(cls.read(data, data.test)) if data.test else None

    @classmethod
    @abstractmethod
    def content(cls, example: Any) -> str:
        """The text by which two examples are duplicates of each other."""

    @classmethod
    def strata(cls, example: Any) -> tuple[str, ...]:
        """The labels whose shares are kept when examples are held out."""
        return ()

    @classmethod
    def warn_of_overlap(cls, training: Any, valid: Any, test: Any) -> None:
        """Say how much of what the model is judged by is trained on, too; None is nothing."""
        named = (("validation", valid), ("test", test))
        others = {name: map(cls.content, part) for name, part in named if part}
        warn_of_overlap(map(cls.content, training), others)

    @classmethod
    def measure(cls, examples: Any, tokens: Any) -> DataFacts:
        """How much there is to train on: what defaults are chosen by."""
        texts, classes = [cls.content(e) for e in examples], count_classes(examples, cls.strata)
        return DataFacts(cls.noun, **measure_texts(texts), classes=classes, kind=tokens.kind)

    @classmethod
    def resolve_data(cls, data: Any) -> Any:
        """The options of the data with what only the training data tells."""
        return data

    @classmethod
    def with_progress(cls, examples: Any, report: Progress) -> Any:
        """The examples with someone to report to while they are read, where that takes long."""
        return examples

    @classmethod
    def check_tokens(cls, config: Any, tokens: Any) -> None:
        """Refuse options of a model that do not go with its tokens."""

    @classmethod
    def check_objective(cls, config: Any, objective: str) -> None:
        """Refuse options that this kind of objective would ignore."""

    @classmethod
    def check_refit(cls, data: Any) -> None:
        """Refuse to train anew on all examples where none was held out."""
        if data.valid or not data.holdout:
            raise ConfigError("training.refit is for examples that were held out; here all are trained on")

    @classmethod
    def join(cls, training: Any, held: Any) -> Any:
        """All examples: those that are trained on, and those that were held out."""
        return [*training, *held]

    @classmethod
    @abstractmethod
    def from_examples(cls, config: Any, tokens: Any, examples: Any) -> Task:
        """An untrained model that knows the vocabulary of the examples."""

    @classmethod
    @abstractmethod
    def from_folder(cls, config: Any, folder: Path, weights: Mapping[str, Tensor]) -> Task:
        """The model whose vocabulary is in the folder, sized by these weights."""

    @abstractmethod
    def grow(self, tokens: Any, examples: Any) -> tuple[Task, Growth]:
        """This model with rows for the labels and tokens of examples that it does not know, and what these are.

        Ids and weights stay as they are. It is this very model if nothing is new.
        """

    def add_words(self, tokens: Any, texts: Iterable[str]) -> Task:
        """This untrained model with rows for the words of texts without labels."""
        raise ConfigError(f"{self.spec.title} learns nothing from unlabelled text")

    def add_readers(self, sources: Mapping[bool, Any]) -> Task:
        """This untrained model with language models beside its words, by whether they read backward."""
        raise ConfigError(f"{self.spec.title} reads no language model beside its words")

    def pretraining(self, texts: Iterable[str]) -> Any:
        """An `EncoderPretraining`: the encoder as a language model of texts without labels."""
        raise ConfigError(f"{self.spec.title} learns nothing from unlabelled text")

    def guess_labels(self, dataset: Any, texts: Sequence[str], options: Any) -> GuessedData:
        """The training data with texts that have no label, and guesses of these, where the task makes any."""
        return GuessedData(dataset)

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
        """What is validated on, as a dataset."""
        return self.encode(examples)

    def fit_statistics(self, dataset: Any) -> None:
        """Remember what the loss needs to know of all training data."""

    def build_batches(self, dataset: Any, data: Any, seed: int) -> Any:
        """The batches of training, as ``fit`` wants them."""
        fitting = int(np.sum(dataset.lengths)) // self.batches_per_epoch
        tokens = data.batch_tokens or min(2048, max(128, fitting))
        return BucketBatches(dataset, tokens, seed, self.weight)

    @classmethod
    def largest_batch(cls, batches: Any) -> tuple[int, int]:
        """The most tokens that a matrix of the network reads at once, and the most of one text."""
        tokens, longest = batches.largest
        return tokens, longest

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

    def calibrate(self, dataset: Any) -> dict[str, float]:
        """Choose on validation data how sure answers are; the scores that are other ones then."""
        return {}

    def deal_folds(self, dataset: Any) -> Tensor | None:
        """The fold of each example (N,), from 0, to choose by answers to those not learnt; None: nothing is."""
        return None

    def judge_alone(self, dataset: Any) -> Tensor:
        """What the network by itself says of examples (N, Y)."""
        raise ConfigError(f"of {self.spec.title} nothing is chosen by folds")

    def choose_by_folds(self, dataset: Any, said: Tensor) -> str:
        """Choose by what the network says of each example that it has not read: the scores after that."""
        raise ConfigError(f"of {self.spec.title} nothing is chosen by folds")

    def learn_held_out(self, training: Any, held: Any) -> None:
        """Learn what needs no updates from the examples that were held out, too: the model is validated."""

    def training_anew(self) -> AbstractContextManager[None]:
        """What surrounds the training of a model that is calibrated already."""
        return nullcontext()

    def end_training(self) -> None:
        """Let go of what only training needs: a trained model takes the memory of a loaded one."""
        for module in self.net.modules():
            if isinstance(module, CharacterStates):
                module.drop_states()

    def baseline(self, training: Any, valid: Any, seconds: float) -> BaselineResult:
        """What the better of the obvious simple models scores on ``valid``, made of ``training``.

        Where that would take much longer than so many seconds, a part of the examples has to do.
        """
        raise ConfigError(f"no simple model is known for {self.spec.title}")

    def average_decision(self, others: Sequence[Any]) -> None:
        """Take the mean of what ``calibrate`` chose for this model and for others like it."""

    def confidences(self, dataset: Any) -> Confidences:
        """How sure the answers are and which are right, for a reliability diagram."""
        raise ConfigError(f"{self.spec.title} has no confidences whose reliability could be drawn")

    @abstractmethod
    def evaluate_dataset(self, dataset: Any) -> dict[str, float]:
        """The scores of a dataset."""

    def report(self, dataset: Any, progress: Progress, **options: Any) -> Report:
        """What ``elman evaluate`` says; options are those of ``evaluate_options``."""
        return Report(self.evaluate_dataset(dataset))

    def judge(self, dataset: Any, progress: Progress, **options: Any) -> Judgement:
        """The report, and all that is known of each example; options are those of ``report``."""
        raise ConfigError(f"{self.spec.title} cannot be looked at example by example")

    def predict_file(self, file: str, options: PredictOptions) -> Iterator[Answer]:
        """An answer to each line of a file."""
        number, lines = 1, (line for _, line in read_lines(file, encoding=options.encoding))
        for some in options.chunks(lines):
            places = [f"{display_name(file)}:{i}" for i in range(number, number + len(some))]
            with locate_long_texts(places):
                yield from self.predict_rows([(line,) for line in some], options)
            number += len(some)

    def predict_rows(self, rows: Sequence[tuple[str, ...]], options: PredictOptions) -> Iterator[Answer]:
        """An answer to the texts of each row, one for each of ``text_columns`` or ``table_columns``."""
        raise ConfigError(f"elman predict is not for {self.spec.title}")

    def answer_columns(self, options: PredictOptions) -> dict[str, type]:
        """The names of an answer's ``cells``, and what is in them: ``str``, ``float`` or ``list``."""
        raise ConfigError(f"elman predict is not for {self.spec.title}")

    @abstractmethod
    def trace(self, text: str, word: int | None) -> TextTrace:
        """What inspection needs while the model reads a text; ``word``, from 1, chooses one of its answers."""

    def blueprint(self) -> Mapping[str, Any]:
        """The parts that the model is made of, by name: layers, tokenizers, tensors and plain values.

        ``kind`` says how they work together, for a runtime that is not Python.
        """
        raise ModelError(f"{self.spec.title} runs in Python only")

    def sample_text(self) -> str:
        """A short text that the model writes, the same each time; empty where it writes none by itself."""
        return ""

    @abstractmethod
    def card_info(self) -> CardInfo:
        """For the model card."""

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.net.parameters()).device
