"""Classification: one label for a text."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from elman.cells import named
from elman.errors import ConfigError, DataError, ModelError
from elman.layers.dropout import SequenceDropout
from elman.layers.encoder import recurrent
from elman.layers.pooling import Mean, Window, pool
from elman.layers.words import Words
from elman.metrics import accuracy, macro_f1
from elman.shapes import Bool, Float, Tensor
from elman.tasks.lexicon import Lexicon
from elman.tasks.settings import Files, Tokens, positive, share
from elman.tasks.words import Forms, Row, WordModel, side_by_side
from elman.text import parallel, tables, trees
from elman.text.codec import Codec, TokenCodec
from elman.text.vocab import Labels


@dataclass(frozen=True)
class Data(Files):
    """Where the examples are: a table, or a file of texts and one of labels."""

    format: Literal["", "tsv", "csv", "jsonl", "blank", "trees"] = ""  # "": by the ending
    text: str = "text"  # column: a name, or a number from 1
    label: str = "label"
    label_until: str = ""  # labels end before this: of LOC:city, ":" leaves LOC
    labels: dict[str, str] = field(default_factory=dict)  # new names; what has none is left out
    phrases: bool = False  # of trees, train on every node and not only on the roots


@dataclass(frozen=True)
class Model(WordModel):
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
    dropout: float = 0.4
    smoothing: float = 0.0  # share of the probability that is spread over all labels
    balanced: bool = False  # rare labels count as much as frequent ones
    adversarial: float = 0.0  # trained on the worst words, too, within so large a step of these

    def __post_init__(self) -> None:
        super().__post_init__()
        named(self.cell)
        for name in ("hidden", "layers", "window"):
            positive(name, getattr(self, name))
        for name in ("dropout", "smoothing"):
            share(name, getattr(self, name))
        if self.adversarial < 0:
            raise ConfigError(f"adversarial is {self.adversarial}; it must be at least 0")
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
    return tables.rows(
        paths[0],
        columns,
        format=data.format or None,
        encoding=data.encoding,
        header=columns != ("text", "label"),
    )


def _suspect_header(examples: Sequence[Example]) -> None:
    """Say so where the first line of a file looks like the names of its columns: they are no example."""
    counts = Counter(e.label for e in examples)
    for e in examples:
        if e.where.endswith(":1") and counts[e.label] == 1 and len(examples) > 10 * len(counts):
            warnings.warn(
                f"{e.where}: no other line has the label {e.label!r}; if this line names the columns, "
                f"say which: text={e.text!r} and label={e.label!r}",
                stacklevel=3,
            )


@dataclass(frozen=True)
class Encoded:
    """Examples as numbers."""

    rows: list[Row]
    forms: Forms
    labels: list[int]

    @property
    def lengths(self) -> list[int]:
        return [len(row) for row in self.rows]

    def pick(self, index: Iterable[int]) -> Encoded:
        chosen = list(index)
        rows, labels = [self.rows[i] for i in chosen], [self.labels[i] for i in chosen]
        return Encoded(rows, self.forms, labels)

    def __len__(self) -> int:
        return len(self.rows)


class Network(nn.Module):
    """Logits of all labels for each row of ids."""

    def __init__(self, model: Model, lexicon: Lexicon, labels: int) -> None:
        super().__init__()
        self.words = lexicon.layer(model, one_hot=model.input == "one-hot")
        self.drop = SequenceDropout(model.dropout)
        size = self.words.output_size
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

    def forward(self, words: Words) -> Float[Tensor, "B Y"]:
        return self.judge(self.words(words), words.mask)

    def judge(self, xs: Float[Tensor, "B T D"], mask: Bool[Tensor, "B T"]) -> Float[Tensor, "B Y"]:
        """Logits from what is known of each word."""
        xs = self.drop(xs)
        if hasattr(self, "encode"):
            xs, _ = self.encode(xs, mask)
        logits: Tensor = self.decide(self.pool(xs, mask))
        return logits


class Prediction(NamedTuple):
    """The likeliest label, and the probability of every label, likeliest first."""

    label: str
    probabilities: dict[str, float]


class Classifier:
    """Texts to labels. Make one with ``fresh``, or load one from a model folder."""

    metric = "accuracy"
    best: Literal["max", "min"] = "max"
    unit = "examples"
    batches_an_epoch = 100

    def __init__(self, model: Model, lexicon: Lexicon, labels: Labels) -> None:
        self.model, self.lexicon, self.labels = model, lexicon, labels
        self.net = Network(model, lexicon, len(labels.items))
        self.counts = torch.ones(len(labels.items))  # of each label in training

    @classmethod
    def fresh(cls, model: Model, tokens: Tokens, examples: Sequence[Example]) -> Classifier:
        """An untrained classifier that knows the words and labels of the examples."""
        labels = Labels.build(e.label for e in examples)
        if len(labels.items) < 2:
            raise DataError(
                f"all examples to train on have the label {labels.items[0]!r}: nothing to decide; "
                "give examples of two labels or more"
            )
        if len(labels.items) > max(100, len(examples) // 2):
            raise DataError(
                f"{len(labels.items)} different labels in {len(examples)} examples: are text and "
                "label the wrong way round? name the columns, for example text=2 and label=1"
            )
        _suspect_header(examples)
        words = tokens.learn(e.text for e in examples)
        counts = Counter(token for e in examples for token in _tokens(words, e.text))
        return cls(model, Lexicon.learn(model, words, counts), labels)

    @classmethod
    def restore(cls, model: Model, folder: Path, weights: Mapping[str, Tensor]) -> Classifier:
        """The classifier whose vocabulary and labels are in the folder, with these weights."""
        lexicon = Lexicon.load(model, folder, weights)
        return cls(model, lexicon, Labels.load(folder / "labels.json"))

    def adopt(self, folder: Path) -> None:
        """Take the vocabulary that was stored, if it and the labels are of the same data."""
        if Labels.load(folder / "labels.json") != self.labels:
            raise ModelError(f"{folder} was trained on other data: its labels differ")
        self.lexicon.adopt(folder)

    def store(self, folder: Path) -> None:
        """Write what is not weights: vocabulary and labels."""
        self.lexicon.save(folder)
        self.labels.save(folder / "labels.json")

    def encode(self, examples: Iterable[Example]) -> Encoded:
        texts, labels = [], []
        for example in examples:
            texts.append(example.text)
            labels.append(self.labels.id(example.label, example.where))
        return Encoded(*self.lexicon.texts(texts), labels)

    def knows(self, example: Example) -> bool:
        """Whether its label was seen in training."""
        return example.label in self.labels.items

    def learn_from(self, examples: Encoded) -> None:
        """Remember how frequent each label is, for ``balanced``."""
        counts = np.bincount(examples.labels, minlength=len(self.labels.items))
        self.counts = torch.from_numpy(counts).float().clamp(min=1)

    def loss(self, batch: Encoded, progress: float) -> Tensor:
        """Mean cross-entropy on y_n; ``balanced`` weighs each label by how rare it is.

        With ``adversarial`` ε, the mean of that and of the same at x + ε g / |g|, where g is the gradient with
        respect to the words x of a text (Miyato et al. 2017).
        """
        words = self._words(batch.rows, batch.forms)
        xs = self.net.words(words)
        loss = self._cross_entropy(self.net.judge(xs, words.mask), batch.labels)
        if not self.model.adversarial or not self.net.training:
            return loss
        (g,) = torch.autograd.grad(loss, xs, retain_graph=True)
        norm = g.flatten(1).norm(dim=1).clamp(min=1e-12)[:, None, None]
        worst = xs + self.model.adversarial * g / norm
        return (loss + self._cross_entropy(self.net.judge(worst, words.mask), batch.labels)) / 2

    def _cross_entropy(self, logits: Tensor, labels: list[int]) -> Tensor:
        gold = torch.tensor(labels, device=logits.device)
        weight = self._rarity().to(logits) if self.model.balanced else None
        return cross_entropy(logits, gold, weight, label_smoothing=self.model.smoothing)

    def weight(self, batch: Encoded) -> float:
        """How much the loss of a batch is the mean of: examples, where ``balanced`` by their weights."""
        return self._rarity()[batch.labels].sum().item() if self.model.balanced else len(batch)

    def _rarity(self) -> Tensor:
        return self.counts.mean() / self.counts

    def _words(self, rows: Sequence[Row], forms: Forms) -> Words:
        return side_by_side(rows, forms).to(next(self.net.parameters()).device)

    @torch.no_grad()
    def scores(self, rows: Sequence[Row], forms: Forms) -> Tensor:
        """Log-probabilities (examples, labels); rows of like length are run together."""
        self.net.eval()
        result = torch.empty(len(rows), len(self.labels.items))
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        for start in range(0, len(order), 256):
            some = order[start : start + 256]
            logits = self.net(self._words([rows[i] for i in some], forms))
            result[some] = logits.log_softmax(-1).float().cpu()
        return result

    def judge(self, data: Encoded) -> dict[str, float]:
        return self.evaluate(data)

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
        guess = self.scores(examples.rows, examples.forms).argmax(-1).tolist()
        return [names[i] for i in examples.labels], [names[i] for i in guess]

    def described(self) -> tuple[str, str, list[str]]:
        """For the model card."""
        m = self.model
        encoder = f"{m.layers} × {m.cell}, {m.hidden} units" if m.encoder == "rnn" else m.encoder
        about = [f"labels: {', '.join(self.labels.items)}", f"network: {encoder}"]
        if self.lexicon.coverage:
            about.append(f"pretrained vectors cover {self.lexicon.coverage}")
        return "A text classifier", 'classify(["some text"])', about

    def classify(self, texts: Iterable[str]) -> list[Prediction]:
        """A label for each text, with the probability of every label."""
        predictions = []
        for row in self.scores(*self.lexicon.texts(texts)).exp():
            order = row.argsort(descending=True).tolist()
            chances = {self.labels.items[i]: float(row[i]) for i in order}
            predictions.append(Prediction(self.labels.items[order[0]], chances))
        return predictions


def _tokens(words: Codec, text: str) -> list[str]:
    return words.tokenizer.cut(text) if isinstance(words, TokenCodec) else words.tokens(text)
