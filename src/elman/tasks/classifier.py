"""Classification: one label for a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from elman.errors import DataError, ModelError
from elman.layers.words import Words
from elman.metrics import accuracy, macro_f1
from elman.shapes import Tensor
from elman.tasks.classification.data import Data, Encoded, Example, read
from elman.tasks.classification.network import Model, Network
from elman.tasks.lexicon import Lexicon
from elman.tasks.settings import Tokens
from elman.tasks.words import Forms, Row, side_by_side
from elman.text.codec import Codec, TokenCodec
from elman.text.vocab import Labels

__all__ = [
    "Classifier",
    "Data",
    "Encoded",
    "Example",
    "Model",
    "Prediction",
    "read",
]


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
