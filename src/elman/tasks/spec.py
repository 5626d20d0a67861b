"""What can be said of a task without loading it: its name, its flags, what to type next. No torch here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from elman.ranges import LayerCount, NonNegativeFloat, NonNegativeInt, PositiveFloat, Rate, Seed, Size

if TYPE_CHECKING:
    from elman.tasks.base import Task


class Flag(NamedTuple):
    """An option of ``elman train`` for a key of a recipe. A ``bool`` is true where it is given."""

    key: str
    help: str
    metavar: str = "TEXT"
    type: Any = str
    required: bool = False
    several: bool = False  # values: all words up to the next option


@dataclass(frozen=True)
class TaskSpec:
    """The plate at a task's door."""

    name: str  # as recipes, model folders and ``elman train`` say it
    home: str  # where its class is: "package.module:Class"
    title: str  # "a classifier"
    verbs: tuple[str, ...]  # of the command line that use such a model
    usage: str  # how the model card calls it: "predict THIS_FOLDER texts.txt"
    next_command: str  # what to type after training; {} stands for the folder
    help: str  # of ``elman train NAME``
    short_help: str | None = None  # its first sentence, where that is too long for a list
    flags: Mapping[str, Flag] = field(default_factory=dict)

    def load(self) -> type[Task]:
        """The task itself."""
        module, name = self.home.split(":")
        task: type[Task] = getattr(import_module(module), name)
        return task

    def export(self, name: str) -> Any:
        """A public name of the task's module: the ``__getattr__`` of its package."""
        module = import_module(self.home.split(":")[0])
        if name not in module.__all__:
            raise AttributeError(f"{module.__package__} has no {name!r}")
        return getattr(module, name)

    @property
    def owner(self) -> str:
        """Whose the model is, and by which verbs it is used."""
        *most, last = self.verbs
        names = f"{', '.join(most)} and {last} use" if most else f"{last} uses"
        return f"{self.title}: elman {names} it"


TABLE_FILES = "CSV, TSV, JSONL, JSON, Parquet, xlsx"
FILES = {
    "--valid": Flag("data.valid", "Validation data for early stopping; default: a tenth of --train.", "FILE"),
    "--test": Flag("data.test", "Test data, scored once at the end.", "FILE"),
    "--encoding": Flag("data.encoding", "Encoding of the files, for example latin-1."),
    "--skip-bad": Flag("data.skip_bad", "Skip rows that cannot be read, or have an empty cell.", type=bool),
}
UNLABELLED = {
    "--unlabelled": Flag(
        "data.unlabelled", "Text without labels, which the encoder learns first, as a language model.", "FILE"
    )
}
LM_READERS = {
    "--lm-forward": Flag(
        "model.lm_forward", "A language model of characters whose states are read beside the words.", "FOLDER"
    ),
    "--lm-backward": Flag(
        "model.lm_backward", "The same, trained on lines that were written from their end (`rev`).", "FOLDER"
    ),
}
TOKENS = {"--tokens": Flag("tokens.kind", "Tokenizer: words, whitespace, chars, bytes, bpe or unigram.")}
NETWORK = {
    "--cell": Flag("model.cell", "Recurrent cell: lstm, gru, elman, …, or your own: FILE.py:NAME."),
    "--hidden": Flag("model.hidden", "Hidden size of each direction.", "N", Size),
    "--layers": Flag("model.layers", "Number of layers.", "N", LayerCount),
    "--dropout": Flag("model.dropout", "Dropout rate.", "P", Rate),
    "--vectors": Flag("model.vectors", "Pretrained word vectors.", "FILE"),
}
TRAINING = {
    "--epochs": Flag("training.epochs", "Maximum number of epochs.", "N", NonNegativeInt),
    "--batch": Flag("data.batch_tokens", "Tokens per batch.", "N", NonNegativeInt),
    "--lr": Flag("training.lr", "Peak learning rate.", "RATE", PositiveFloat),
    "--minutes": Flag(
        "training.minutes", "Train for N minutes, however many epochs that are.", "N", NonNegativeFloat
    ),
    "--seed": Flag("training.seed", "Random seed.", "N", Seed),
    "--tensorboard": Flag("tensorboard", "Log to TensorBoard, into --out/tensorboard.", type=bool),
    "--wandb": Flag("wandb", "Log to Weights & Biases, too.", type=bool),
    "--mlflow": Flag("mlflow", "Log to MLflow, too.", type=bool),
}
