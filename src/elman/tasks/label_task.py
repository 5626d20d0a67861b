"""Tasks that give one label: to a text, or to a pair of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import torch
from torch.nn.functional import cross_entropy

from elman.errors import DataError, ModelError
from elman.layers.word_layer import WordBatch
from elman.metrics import accuracy, confusion, label_scores, macro_f1
from elman.shapes import Tensor
from elman.state import eval_mode
from elman.tasks.base import PredictOptions, Progress, Task
from elman.tasks.config import TokenizerConfig
from elman.tasks.label_data import LabelDataset, LabeledExample
from elman.tasks.label_network import LabelConfig, LabelNetwork
from elman.tasks.results import Answer, Report, Table, label_table
from elman.tasks.word_batch import WordForms, WordRow, collate
from elman.tasks.word_features import WordFeaturizer
from elman.text.batching import length_sorted_chunks
from elman.text.vocab import Labels

C = TypeVar("C", bound=LabelConfig)
N = TypeVar("N", bound=LabelNetwork)
M = TypeVar("M", bound="LabelTask[Any, Any]")

LabelRow = tuple[str, ...] | Mapping[str, Any]
"""Texts and their label, or a mapping that has them by their columns."""


class Prediction(NamedTuple):
    """The likeliest label, and the probability of every label, likeliest first."""

    label: str
    probabilities: dict[str, float]


class LabelTask(Task[LabelRow], Generic[C, N]):
    """Texts, one or several an example, to a label; a task says which network decides."""

    metric = "accuracy"
    network: ClassVar[Callable[..., Any]]  # of a configuration, the words, and so many labels

    config: C
    net: N

    def __init__(self, config: C, featurizer: WordFeaturizer, labels: Labels) -> None:
        self.config, self.featurizer, self.labels = config, featurizer, labels
        self.net = self.network(config, featurizer, len(labels.items))
        self.rarity = torch.ones(len(labels.items))  # what each label counts with ``class_weights``

    @classmethod
    def from_examples(
        cls: type[M], config: C, tokens: TokenizerConfig, examples: Sequence[LabeledExample]
    ) -> M:
        labels = _build_labels(examples)
        texts = [text for e in examples for text in e.texts]
        tokenizer = tokens.learn(texts)
        words = (token for text in texts for token in tokenizer.split(text))
        return cls(config, WordFeaturizer.learn(config, tokenizer, words), labels)

    @classmethod
    def from_folder(cls: type[M], config: C, folder: Path, weights: Mapping[str, Tensor]) -> M:
        featurizer = WordFeaturizer.load(config, folder, weights)
        return cls(config, featurizer, Labels.load(folder / "labels.json"))

    def reuse_vocab(self, folder: Path) -> None:
        if Labels.load(folder / "labels.json") != self.labels:
            raise ModelError(f"{folder} was trained on other data: its labels differ")
        self.featurizer.reuse_vocab(folder)

    def save_vocab(self, folder: Path) -> None:
        self.featurizer.save(folder)
        self.labels.save(folder / "labels.json")

    def encode(self, examples: Iterable[LabeledExample]) -> LabelDataset:
        known = [(e.texts, self.labels.id(e.label, e.where)) for e in examples]
        return LabelDataset(*self._encode_texts([texts for texts, _ in known]), [label for _, label in known])

    def _encode_texts(self, examples: Sequence[tuple[str, ...]]) -> tuple[list[tuple[WordRow, ...]], WordForms]:
        rows, forms = self.featurizer.texts(text for texts in examples for text in texts)
        each = iter(rows)
        return [tuple(next(each) for _ in texts) for texts in examples], forms

    def can_evaluate(self, example: LabeledExample) -> bool:
        """Whether its label was seen in training."""
        return example.label in self.labels.items

    def fit_statistics(self, examples: LabelDataset) -> None:
        """Remember how frequent each label is, for ``class_weights``."""
        counts = torch.bincount(torch.tensor(examples.labels), minlength=len(self.labels.items))
        counts = counts.float().clamp(min=1)
        self.rarity = counts.mean() / counts

    def loss(self, batch: LabelDataset, progress: float) -> Tensor:
        """Mean cross-entropy of the labels; ``class_weights`` weighs each label by how rare it is.

        With ``adversarial`` ε, the mean of that and of the same at x + ε g / |g|, where g is the gradient with
        respect to the words x of a text (Miyato et al. 2017).
        """
        words = self._collate(batch.rows, batch.forms)
        xs = self.net.words(words)
        loss = self._cross_entropy(self.net.logits(xs, words.mask), batch.labels)
        if not self.config.adversarial or not self.net.training:
            return loss
        (g,) = torch.autograd.grad(loss, xs, retain_graph=True)
        norm = g.flatten(1).norm(dim=1).clamp(min=1e-12)[:, None, None]
        worst = xs + self.config.adversarial * g / norm
        return (loss + self._cross_entropy(self.net.logits(worst, words.mask), batch.labels)) / 2

    def _cross_entropy(self, logits: Tensor, labels: list[int]) -> Tensor:
        gold = torch.tensor(labels, device=logits.device)
        weight = self.rarity.to(logits) if self.config.class_weights else None
        return cross_entropy(logits, gold, weight, label_smoothing=self.config.label_smoothing)

    def weight(self, batch: LabelDataset) -> float:
        """How much the loss of a batch is the mean of: examples, where ``class_weights`` by their weights."""
        return self.rarity[batch.labels].sum().item() if self.config.class_weights else len(batch)

    def _collate(self, rows: Sequence[tuple[WordRow, ...]], forms: WordForms) -> WordBatch:
        """All first texts, below them all second ones."""
        texts = [text for side in zip(*rows, strict=True) for text in side]
        return collate(texts, forms).to(self.device)

    @torch.no_grad()
    def scores(self, rows: Sequence[tuple[WordRow, ...]], forms: WordForms) -> Tensor:
        """Log-probabilities (examples, labels); rows of like length are run together."""
        result = torch.empty(len(rows), len(self.labels.items))
        lengths = [max(map(len, row)) for row in rows]
        with eval_mode(self.net) as net:
            for some in length_sorted_chunks(lengths, max_rows=256):
                logits = net(self._collate([rows[i] for i in some], forms))
                result[some] = logits.log_softmax(-1).float().cpu()
        return result

    def evaluate_dataset(self, examples: LabelDataset) -> dict[str, float]:
        """Accuracy and macro-averaged F1 in percent."""
        return _scores(*self.predictions(examples))

    def report(self, dataset: LabelDataset, progress: Progress, **options: Any) -> Report:
        """The scores, each label, and which was taken for which."""
        gold, guess = self.predictions(dataset)
        matrix, each = confusion(gold, guess), label_scores(gold, guess)
        counts = zip(matrix.labels, matrix.counts, strict=True)
        title, header = "confusion (rows: gold, columns: predicted)", ["", *matrix.labels]
        table = Table(title, header, [[name, *map(str, row)] for name, row in counts])
        labels = {name: asdict(score) for name, score in each.items()}
        record = {"labels": labels, "confusion": asdict(matrix)}
        return Report(_scores(gold, guess), record, [label_table("", each, "examples"), table])

    def predictions(self, examples: LabelDataset) -> tuple[list[str], list[str]]:
        """The right labels and the guessed ones."""
        names = self.labels.items
        guess = self.scores(examples.rows, examples.forms).argmax(-1).tolist()
        return [names[i] for i in examples.labels], [names[i] for i in guess]

    def predict(self, examples: Iterable[tuple[str, ...]]) -> list[Prediction]:
        """A label for the texts of each example, with the probability of every label."""
        predictions = []
        for row in self.scores(*self._encode_texts(list(examples))).exp():
            order = row.argsort(descending=True).tolist()
            chances = {self.labels.items[i]: float(row[i]) for i in order}
            predictions.append(Prediction(self.labels.items[order[0]], chances))
        return predictions

    def predict_lines(self, lines: Sequence[str], options: PredictOptions) -> Iterator[Answer]:
        """The label of each line, or the likeliest few with their probabilities."""
        return self._answer([{"text": line} for line in lines], options)

    def _answer(self, examples: Sequence[Mapping[str, str]], options: PredictOptions) -> Iterator[Answer]:
        """Answers to examples, whose texts are given by name."""
        predictions = self.predict(tuple(example.values()) for example in examples)
        for example, prediction in zip(examples, predictions, strict=True):
            best = islice(prediction.probabilities.items(), options.n_best)
            line = "\t".join(f"{name} {chance:.4f}" for name, chance in best)
            record = {**example, **prediction._asdict()}
            yield Answer(prediction.label if options.n_best == 1 else line, record)

    def _facts(self, network: str) -> list[str]:
        """For the model card: its labels and what it is made of."""
        facts = [f"labels: {', '.join(self.labels.items)}", f"network: {network}"]
        if self.featurizer.coverage:
            facts.append(f"pretrained vectors cover {self.featurizer.coverage}")
        return facts


def _scores(gold: Sequence[str], guess: Sequence[str]) -> dict[str, float]:
    return {"accuracy": accuracy(gold, guess), "macro_f1": macro_f1(gold, guess), "examples": len(gold)}


def _build_labels(examples: Sequence[LabeledExample]) -> Labels:
    labels = Labels.build(e.label for e in examples)
    if len(labels.items) < 2:
        raise DataError(
            f"all examples to train on have the label {labels.items[0]!r}: nothing to decide; "
            "give examples of two labels or more"
        )
    if len(labels.items) > max(100, len(examples) // 2):
        raise DataError(
            f"{len(labels.items)} different labels in {len(examples)} examples: are the columns the "
            "wrong way round? name them, for example label=1"
        )
    return labels
