"""What tasks hand to those who print, plot or explain: answers, reports, traces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from torch import nn

from elman.cells import RecordedCell
from elman.decoding import BeamTree
from elman.errors import ConfigError, ModelError
from elman.layers.rnn import RNN, StackedRNN
from elman.metrics import ConfusedPair, LabelScore
from elman.shapes import Float, Int, Tensor
from elman.tasks.heat_table import heat_table
from elman.text.tables import TableReport


class Alignment(NamedTuple):
    """Where a decoder looked for each token that it wrote, and for the end."""

    source: list[str]
    target: list[str]
    weights: Float[Tensor, "T S"]

    def _repr_html_(self) -> str:
        return heat_table(self.weights.tolist(), columns=self.source, rows=self.target)


class Answer(NamedTuple):
    """What ``elman predict`` prints for one line: as text, as a JSON object, or as cells of a table."""

    line: str | bytes  # bytes are written as they are
    record: Mapping[str, Any]
    alignment: Alignment | None = None
    cells: Sequence[Any] = ()  # of a table, under `Task.answer_columns`
    tree: BeamTree | None = None  # of the search for it


def rank_columns(columns: Mapping[str, type], count: int) -> dict[str, type]:
    """Columns of the best answers: ``label confidence label_2 confidence_2``."""
    ranked = ((rank, name) for rank in range(1, count + 1) for name in columns)
    return {f"{name}_{rank}" if rank > 1 else name: columns[name] for rank, name in ranked}


class Confidences(NamedTuple):
    """The probabilities of answers, and which of them are right."""

    sure: list[float]
    right: list[bool]


class ModelRecord(NamedTuple):
    """What a model folder holds beside the model: how it was trained, what it scored."""

    data: Any  # the config by which examples are read
    config: Mapping[str, Any]
    metrics: Mapping[str, Any]
    card: str
    tables: Sequence[TableReport] = ()  # what was read to train on, where it was in tables
    run: Mapping[str, Any] = {}  # of ``run.json``


class CardInfo(NamedTuple):
    """For the model card: what the model is, how Python calls it, and lines on its make."""

    title: str
    usage: str
    facts: list[str]


class ReportTable(NamedTuple):
    """Rows under a header, for people."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left_columns: Sequence[int] = (0,)  # texts begin on the left, numbers end on the right


@dataclass(frozen=True)
class Report:
    """What ``elman evaluate`` prints: scores, tables and notes; with --json, scores and ``record``."""

    scores: Mapping[str, float]
    record: Mapping[str, Any] = field(default_factory=dict)
    tables: Sequence[ReportTable] = ()
    notes: Sequence[str] = ()
    digits: int = 2  # of a score


def label_table(title: str, scores: Mapping[str, LabelScore], unit: str) -> ReportTable:
    """Precision, recall and F1 of each label; ``unit`` is what there are so many of."""
    rows = [
        [name, f"{s.precision:.1f}", f"{s.recall:.1f}", f"{s.f1:.1f}", f"{s.support:,}"]
        for name, s in scores.items()
    ]
    return ReportTable(title, ["label", "precision", "recall", "F1", unit], rows)


def confusion_table(title: str, pairs: Sequence[ConfusedPair]) -> ReportTable:
    """How often each label was taken for another, with an example of it."""
    rows = [[f"{p.gold} → {p.predicted}", f"{p.count:,}", _brief(p.example)] for p in pairs]
    return ReportTable(title, ["gold → predicted", "count", "for example"], rows, left_columns=(0, 2))


def _brief(text: str, most: int = 60) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


class Question(NamedTuple):
    """Why this answer rather than the next best one?"""

    of: str  # what was asked: the text, or one of its words
    answer: str
    other: str


@dataclass(frozen=True)
class Surprisal:
    """-log p of each token of a text, its end included, in nats."""

    tokens: list[str]
    nats: list[float]


class LayerPass(NamedTuple):
    """Recurrent layers and one sequence that they read, to look at what their units do."""

    part: str  # of the network: encoder, first text; "" where there is one
    tokens: list[str]
    layers: RNN | StackedRNN
    xs: Float[Tensor, "1 T D"]


class DecoderPass(NamedTuple):
    """The cells of a decoder, the lowest first, after they wrote one sequence."""

    tokens: list[str]  # that were read, one a step
    cells: list[RecordedCell]


@dataclass(frozen=True)
class TextTrace:
    """A model before it reads one text: all that is needed to look at it while it does.

    ``margins`` runs ``embedding`` once and gives for each question log p(answer) - log p(other).
    """

    tokens: list[str]  # what the network reads
    separator: str  # what stands between two tokens
    passes: list[LayerPass]  # whose gates are looked at
    embedding: nn.Module
    margins: Callable[[], Float[Tensor, " N"]]
    questions: list[Question]
    attention: Float[Tensor, " T"] | None = None  # where a text is summed up by it
    surprisal: Surprisal | None = None
    alignment: Alignment | None = None
    decoder: DecoderPass | None = None  # of a model that writes


def best_two(scores: Float[Tensor, "T Y"]) -> tuple[Int[Tensor, " T"], Int[Tensor, " T"]]:
    """The best answer at each place, and the next best."""
    if scores.shape[1] < 2:
        raise ModelError("the model knows a single answer: no word speaks for it or against it")
    first, second = scores.topk(2, -1).indices.unbind(-1)
    return first, second


def word_index(word: int, count: int, of: str = "text") -> int:
    """The index of a word, counted from 1, among ``count``."""
    if not 1 <= word <= count:
        raise ConfigError(f"word {word} was asked for, but the {of} has {count}, counted from 1")
    return word - 1


class GuessedData(NamedTuple):
    """Training data with texts whose labels are guessed, and what is known of the guesses, for the record."""

    dataset: Any
    facts: Mapping[str, float] = MappingProxyType({})
