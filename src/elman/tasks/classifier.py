"""Classification: one label for a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from elman.cells import named
from elman.errors import ConfigError, DataError
from elman.layers.dropout import SequenceDropout, WordDropout
from elman.layers.embedding import Embedding, OneHot, Pretrained, PretrainedEmbedding
from elman.layers.encoder import recurrent
from elman.layers.pooling import Mean, Window, pool
from elman.metrics import accuracy, macro_f1
from elman.shapes import Bool, Float, Int, Tensor
from elman.tasks.settings import Tokens, positive, share
from elman.text import codec, parallel, tables, trees
from elman.text.batching import pad
from elman.text.codec import Codec
from elman.text.vectors import Coverage, read_vectors
from elman.text.vocab import UNK, Labels


@dataclass(frozen=True)
class Data:
    """Where the examples are. A path may begin with a variable: ``$ELMAN_DATA/trec/TREC.train``."""

    train: str | tuple[str, ...] = ""  # a table, or a file of texts and one of labels
    valid: str | tuple[str, ...] = ""  # chooses the best weights; "": a part of train is held out
    test: str | tuple[str, ...] = ""  # scored once, at the end
    holdout: float = 0.1  # the part of train that is held out
    format: Literal["", "tsv", "csv", "jsonl", "blank", "trees"] = ""  # "": by the ending
    text: str = "text"  # column: a name, or a number from 1
    label: str = "label"
    encoding: str = "utf-8"
    label_until: str = ""  # labels end before this: of LOC:city, ":" leaves LOC
    labels: dict[str, str] = field(default_factory=dict)  # new names; what has none is left out
    phrases: bool = False  # of trees, train on every node and not only on the roots
    batch: int = 0  # tokens, padding included; 0: a hundredth of the data, between 128 and 2,048

    def __post_init__(self) -> None:
        share("holdout", self.holdout)
        if self.batch < 0:
            raise ConfigError(f"batch is {self.batch}; it must be at least 0")


@dataclass(frozen=True)
class Model:
    """The network: embed, encode, pool, decide."""

    encoder: Literal["rnn", "bag", "window"] = "rnn"  # bag: averaged words; window: the first words
    cell: str = "lstm"
    hidden: int = 128  # units of each direction
    layers: int = 1
    bidirectional: bool = True
    pool: Literal["last", "ends", "mean", "max", "mean+max", "attention"] = "max"
    window: int = 20  # words that the window sees
    mlp: int = 0  # units of a layer before the decision; 0: none
    input: Literal["embedding", "one-hot"] = "embedding"
    embedding: int = 100  # features of a trained embedding
    vectors: str = ""  # a file of pretrained ones
    frozen: bool = False  # leave those as they are
    dropout: float = 0.4
    word_dropout: float = 0.05
    smoothing: float = 0.0  # share of the probability that is spread over all labels
    balanced: bool = False  # rare labels count as much as frequent ones

    def __post_init__(self) -> None:
        named(self.cell)
        for name in ("hidden", "layers", "window", "embedding"):
            positive(name, getattr(self, name))
        for name in ("dropout", "word_dropout", "smoothing"):
            share(name, getattr(self, name))
        if self.pool == "ends" and not self.bidirectional and self.encoder == "rnn":
            raise ConfigError("pool is 'ends', which is for two directions; take 'last' for one")
        if self.vectors and self.input == "one-hot":
            raise ConfigError("vectors are given, but input is 'one-hot'")


class Example(NamedTuple):
    text: str
    label: str
    where: str = ""  # file:line


def read(data: Data, source: str | tuple[str, ...], *, train: bool = False) -> Iterator[Example]:
    """The examples of a file, labels renamed as ``data`` says."""
    paths = (source,) if isinstance(source, str) else source
    for number, (text, label) in _pairs(data, paths, train):
        if data.label_until:
            label = label.split(data.label_until, 1)[0]
        if data.labels:
            if label not in data.labels:
                continue
            label = data.labels[label]
        yield Example(text, label, f"{paths[0]}:{number}")


def _pairs(
    data: Data, paths: tuple[str, ...], train: bool
) -> Iterator[tuple[int, tuple[str, ...]]]:
    if len(paths) == 2:
        return parallel.parallel(paths, encoding=data.encoding)
    if len(paths) != 1:
        raise ConfigError(f"examples are in one file or in two, not in {len(paths)}")
    if data.format == "trees":
        roots = not (train and data.phrases)
        return trees.phrases(paths[0], roots=roots, encoding=data.encoding)
    columns = (data.text, data.label)
    return tables.rows(paths[0], columns, format=data.format or None, encoding=data.encoding)


Row = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Encoded:
    """Examples as numbers."""

    rows: list[Row]
    labels: list[int]

    def pick(self, index: Iterable[int]) -> Encoded:
        chosen = list(index)
        return Encoded([self.rows[i] for i in chosen], [self.labels[i] for i in chosen])

    def __len__(self) -> int:
        return len(self.rows)


class Network(nn.Module):
    """Logits of all labels for each row of ids."""

    def __init__(
        self, model: Model, vocabulary: int, labels: int, vectors: Pretrained | None = None
    ) -> None:
        super().__init__()
        self.forget = WordDropout(model.word_dropout, UNK)
        self.embed = _embedding(model, vocabulary, vectors)
        self.drop = SequenceDropout(model.dropout)
        size = self.embed.output_size
        if model.encoder == "rnn":
            make = named(model.cell)
            self.encode = recurrent(
                make,
                (size, model.hidden),
                layers=model.layers,
                bidirectional=model.bidirectional,
                dropout=model.dropout,
            )
            size = self.encode.output_size
            self.pool, size = pool(model.pool, size, bidirectional=model.bidirectional)
        elif model.encoder == "bag":
            self.pool = Mean()
        else:
            self.pool, size = Window(model.window), model.window * size
        hidden: list[nn.Module] = []
        if model.mlp:
            hidden = [nn.Linear(size, model.mlp), nn.ReLU(), nn.Dropout(model.dropout)]
        self.decide = nn.Sequential(*hidden, nn.Linear(model.mlp or size, labels))

    def forward(self, ids: Int[Tensor, "B T"], mask: Bool[Tensor, "B T"]) -> Float[Tensor, "B Y"]:
        xs = self.drop(self.embed(self.forget(ids, mask)))
        if hasattr(self, "encode"):
            xs, _ = self.encode(xs, mask)
        logits: Tensor = self.decide(self.pool(xs, mask))
        return logits


def _embedding(
    model: Model, vocabulary: int, vectors: Pretrained | None
) -> Embedding | OneHot | PretrainedEmbedding:
    if vectors is not None:
        return PretrainedEmbedding(vectors, frozen=model.frozen)
    if model.input == "one-hot":
        return OneHot(vocabulary)
    return Embedding(vocabulary, model.embedding)


class Prediction(NamedTuple):
    """The likeliest label, and the probability of every label, likeliest first."""

    label: str
    probabilities: dict[str, float]


class Classifier:
    """Texts to labels. Make one with ``fresh``, or load one from a model folder."""

    metric = "accuracy"  # tells the best weights; more is better
    unit = "examples"

    def __init__(self, model: Model, words: Codec, labels: Labels, net: Network) -> None:
        self.model, self.words, self.labels, self.net = model, words, labels, net
        self.counts = torch.ones(len(labels.items))  # of each label in training
        self.coverage: Coverage | None = None  # of pretrained vectors

    @classmethod
    def fresh(cls, model: Model, tokens: Tokens, examples: Sequence[Example]) -> Classifier:
        """An untrained classifier that knows the words and labels of the examples."""
        labels = Labels.build(e.label for e in examples)
        if len(labels.items) < 2:
            raise DataError(f"all examples have the label {labels.items[0]!r}: nothing to decide")
        if len(labels.items) > max(100, len(examples) // 2):
            raise DataError(
                f"{len(labels.items)} different labels in {len(examples)} examples: are text and "
                "label the wrong way round? name the columns, for example text=2 and label=1"
            )
        words = codec.build(
            (e.text for e in examples),
            kind=tokens.kind,
            lower=tokens.lower,
            digits=tokens.digits,
            min_count=tokens.min_count,
            size=tokens.size or None,
        )
        vectors = coverage = None
        if model.vectors:
            found = read_vectors(model.vectors, words.items)
            vectors = Pretrained(torch.from_numpy(found.matrix), torch.from_numpy(found.found))
            ids = np.concatenate([words.encode(e.text) for e in examples])
            coverage = found.coverage(np.bincount(ids.astype(np.int64), minlength=len(words.items)))
        net = Network(model, len(words.items), len(labels.items), vectors)
        made = cls(model, words, labels, net)
        made.coverage = coverage
        return made

    @classmethod
    def restore(cls, model: Model, folder: Path, weights: Mapping[str, Tensor]) -> Classifier:
        """The classifier whose vocabulary and labels are in the folder, with these weights."""
        words, labels = codec.load(folder), Labels.load(folder / "labels.json")
        vectors = None
        if model.vectors:
            vectors = Pretrained(weights["embed.E"], weights["embed.found"][:, 0])
        return cls(
            model, words, labels, Network(model, len(words.items), len(labels.items), vectors)
        )

    def store(self, folder: Path) -> None:
        """Write what is not weights: vocabulary and labels."""
        for name in ("vocab.json", "tokenizer.json"):  # of an earlier model, with other tokens
            (folder / name).unlink(missing_ok=True)
        self.words.save(folder)
        self.labels.save(folder / "labels.json")

    def encode(self, examples: Iterable[Example]) -> Encoded:
        rows, labels = [], []
        for example in examples:
            rows.append(np.asarray(self.words.encode(example.text), np.int32))
            labels.append(self.labels.id(example.label, example.where))
        return Encoded(rows, labels)

    def learn_from(self, examples: Encoded) -> None:
        """Remember how frequent each label is, for ``balanced``."""
        counts = np.bincount(examples.labels, minlength=len(self.labels.items))
        self.counts = torch.from_numpy(counts).float().clamp(min=1)

    def loss(self, batch: Encoded, progress: float) -> Tensor:
        """Mean cross-entropy on y_n; ``balanced`` weighs each label by how rare it is."""
        logits = self._logits(batch.rows)
        gold = torch.tensor(batch.labels, device=logits.device)
        weight = self._rarity().to(logits) if self.model.balanced else None
        return cross_entropy(logits, gold, weight, label_smoothing=self.model.smoothing)

    def weight(self, batch: Encoded) -> float:
        """How much the loss of a batch is the mean of: examples, where ``balanced`` by their weights."""
        return self._rarity()[batch.labels].sum().item() if self.model.balanced else len(batch)

    def _rarity(self) -> Tensor:
        return self.counts.mean() / self.counts

    def _logits(self, rows: Sequence[Row]) -> Tensor:
        device = next(self.net.parameters()).device
        ids, mask = pad([row.tolist() for row in rows])
        logits: Tensor = self.net(ids.to(device), mask.to(device))
        return logits

    @torch.no_grad()
    def scores(self, rows: Sequence[Row]) -> Tensor:
        """Log-probabilities (examples, labels); rows of like length are run together."""
        self.net.eval()
        result = torch.empty(len(rows), len(self.labels.items))
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        for start in range(0, len(order), 256):
            some = order[start : start + 256]
            result[some] = self._logits([rows[i] for i in some]).log_softmax(-1).float().cpu()
        return result

    def evaluate(self, examples: Encoded) -> dict[str, float]:
        """Accuracy and macro-averaged F1 in percent."""
        gold, guess = self.judged(examples)
        return {
            "accuracy": accuracy(gold, guess),
            "macro_f1": macro_f1(gold, guess),
            "examples": len(gold),
        }

    def judged(self, examples: Encoded) -> tuple[list[str], list[str]]:
        """The right labels and the guessed ones."""
        names = self.labels.items
        guess = self.scores(examples.rows).argmax(-1).tolist()
        return [names[i] for i in examples.labels], [names[i] for i in guess]

    def classify(self, texts: Iterable[str]) -> list[Prediction]:
        """A label for each text, with the probability of every label."""
        rows = [np.asarray(self.words.encode(text), np.int32) for text in texts]
        predictions = []
        for row in self.scores(rows).exp():
            order = row.argsort(descending=True).tolist()
            chances = {self.labels.items[i]: float(row[i]) for i in order}
            predictions.append(Prediction(self.labels.items[order[0]], chances))
        return predictions
