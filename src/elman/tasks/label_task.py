"""Tasks that give labels: to a text, or to a pair of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import torch

from elman.errors import ConfigError, ModelError, check_option
from elman.free_memory import check_memory
from elman.layers.ngrams import NGramModel
from elman.layers.weight_transfer import copy_weights
from elman.layers.word_layer import WordBatch
from elman.number_format import format_probability
from elman.shapes import Tensor
from elman.state import eval_mode
from elman.tasks.adversarial import adversarial_loss
from elman.tasks.base import PredictOptions, Progress, Task
from elman.tasks.baseline_result import BaselineResult
from elman.tasks.building_limit import limit_to_memory
from elman.tasks.config import TokenizerConfig
from elman.tasks.encoder_pretraining import EncoderPretraining
from elman.tasks.growth import Growth, count_idle
from elman.tasks.judged_labels import judge_labels
from elman.tasks.judgement import Judgement
from elman.tasks.label_baseline import judge_label_baselines
from elman.tasks.label_data import LabelDataset, LabeledExample, build_labels, label_counts, labels_of
from elman.tasks.label_decision import Decision, LabelAnswers, LossOptions, Prediction
from elman.tasks.label_network import LabelConfig, LabelNetwork
from elman.tasks.results import Answer, Confidences, Report, rank_columns
from elman.tasks.softmax_decision import SoftmaxDecision
from elman.tasks.stored_decision import decision_for, load_decision, save_decision
from elman.tasks.word_batch import WordForms, WordRow, collate
from elman.tasks.word_features import WordFeaturizer
from elman.tasks.word_growth import grow_words
from elman.text.arguments import check_rows
from elman.text.batching import length_sorted_chunks
from elman.text.length_limit import check_lengths, locate_long_texts
from elman.text.vocab import Labels, find_new

C = TypeVar("C", bound=LabelConfig)
N = TypeVar("N", bound=LabelNetwork)
M = TypeVar("M", bound="LabelTask[Any, Any]")

_MUCH = 2**28  # bytes; less is not worth to be asked about

LabelRow = tuple[str, ...] | Mapping[str, Any]
"""Texts and their label, or a mapping that has them by their columns."""


class LabelTask(Task[LabelRow], Generic[C, N]):
    """Texts, one or several an example, to labels; a task says which network gives their logits."""

    predict_options = Task.predict_options | {"threshold"}
    network: ClassVar[Callable[..., Any]]  # of a configuration, the words, and so many labels
    ngram_seconds = 0.0  # that its own model of n-grams took

    config: C
    net: N

    def __init__(
        self, config: C, featurizer: WordFeaturizer, labels: Labels, decision: Decision | None = None
    ) -> None:
        self.config, self.featurizer, self.labels = config, featurizer, labels
        self.decision = decision or SoftmaxDecision()
        if self.metric not in self.decision.metrics:
            known = " or ".join(self.decision.metrics)
            raise ConfigError(f"model.metric is {self.metric!r}; for {self.decision.gives} take {known}")
        with limit_to_memory():
            self.net = self.network(config, featurizer, len(labels.items))
        self.rarity = torch.ones(len(labels.items))  # what each label counts with ``class_weights``

    @property
    def metric(self) -> str:
        """What was asked for; else accuracy, of several labels a text micro-F1."""
        return self.decision.metrics[0] if self.config.metric == "auto" else self.config.metric

    @classmethod
    def from_examples(
        cls: type[M], config: C, tokens: TokenizerConfig, examples: Sequence[LabeledExample]
    ) -> M:
        labels, decision = build_labels(examples), decision_for(examples)
        texts = [text for e in examples for text in e.texts]
        tokenizer = tokens.learn(texts)
        words = (token for text in texts for token in tokenizer.split(text))
        return cls(config, WordFeaturizer.learn(config, tokenizer, words), labels, decision)

    @classmethod
    def from_folder(cls: type[M], config: C, folder: Path, weights: Mapping[str, Tensor]) -> M:
        featurizer = WordFeaturizer.load(config, folder, weights)
        return cls(config, featurizer, Labels.load(folder / "labels.json"), load_decision(folder))

    def grow(self: M, tokens: TokenizerConfig, examples: Sequence[LabeledExample]) -> tuple[M, Growth]:
        counts = label_counts(examples)
        words = (token for e in examples for text in e.texts for token in self.featurizer.tokenizer.split(text))
        grown = grow_words(self.featurizer, self.config, tokens, words)
        labels = find_new(self.labels.items, counts)
        growth = Growth(labels, count_idle(self.labels.items, counts), grown.tokens, grown.left)
        if grown.featurizer is self.featurizer and not labels:
            return self, growth
        large = type(self)(self.config, grown.featurizer, self.labels.extend(labels), self.decision)
        copy_weights(self.net, large.net)
        return large, growth

    def add_words(self: M, tokens: TokenizerConfig, texts: Iterable[str]) -> M:
        split = self.featurizer.tokenizer.split
        grown = grow_words(self.featurizer, self.config, tokens, (w for text in texts for w in split(text)))
        return type(self)(self.config, grown.featurizer, self.labels, self.decision)

    def add_readers(self: M, sources: Mapping[bool, Any]) -> M:
        return type(self)(self.config, self.featurizer.add_readers(sources), self.labels, self.decision)

    def pretraining(self, texts: Iterable[str]) -> EncoderPretraining:
        return EncoderPretraining(self.featurizer, self.net, texts)

    def reuse_vocab(self, folder: Path) -> None:
        if Labels.load(folder / "labels.json") != self.labels:
            raise ModelError(f"{folder} was trained on other data: its labels differ")
        self.featurizer.reuse_vocab(folder)

    def save_vocab(self, folder: Path) -> None:
        self.featurizer.save(folder)
        self.labels.save(folder / "labels.json")
        save_decision(self.decision, folder)

    @classmethod
    def content(cls, example: LabeledExample) -> str:
        """Its texts, in whichever order."""
        return "\n".join(sorted(example.texts))

    @classmethod
    def strata(cls, example: LabeledExample) -> tuple[str, ...]:
        return labels_of(example)

    def encode(self, examples: Iterable[LabeledExample]) -> LabelDataset:
        kept = list(examples)
        labels = [self.decision.encode(e, self.labels) for e in kept]
        with locate_long_texts([e.where for e in kept]):
            rows, forms = self.encode_texts([e.texts for e in kept])
        return LabelDataset(rows, forms, labels, kept)

    def encode_texts(self, examples: Sequence[tuple[str, ...]]) -> tuple[list[tuple[WordRow, ...]], WordForms]:
        """The texts of each example as numbers of words."""
        rows, forms = self.featurizer.texts(text for texts in examples for text in texts)
        each = iter(rows)
        encoded = [tuple(next(each) for _ in texts) for texts in examples]
        check_lengths(max(map(len, row)) for row in encoded)
        return encoded, forms

    def fit_statistics(self, examples: LabelDataset) -> None:
        """Remember how frequent each label is, for ``class_weights``."""
        self.rarity = self.decision.weigh(examples.labels, len(self.labels.items))

    def loss(self, batch: LabelDataset, progress: float) -> Tensor:
        """Mean of -log p of the labels; ``class_weights`` weighs each label by how rare it is.

        While training, ``adversarial`` asks for the same at words that are moved for the worst, too.
        """
        words = self.collate(batch.rows, batch.forms)
        xs = self.net.words(words)

        def loss_at(xs: Tensor) -> Tensor:
            return self._label_loss(self.net.logits(xs, words.mask), batch.labels)

        if self.config.adversarial and self.net.training:
            return adversarial_loss(self.net, xs, words.mask, self.config.adversarial, loss_at)
        return loss_at(xs)

    def _label_loss(self, logits: Tensor, labels: Sequence[Any]) -> Tensor:
        return self.decision.loss(logits, labels, LossOptions(self.config.label_smoothing, self._weights))

    @property
    def _weights(self) -> Tensor | None:
        return self.rarity if self.config.class_weights else None

    def weight(self, batch: LabelDataset) -> float:
        """How much the loss of a batch is the mean of: examples, or the weights of their labels."""
        return self.decision.weight(batch.labels, self._weights)

    def collate(self, rows: Sequence[tuple[WordRow, ...]], forms: WordForms) -> WordBatch:
        """All first texts, below them all second ones."""
        texts = [text for side in zip(*rows, strict=True) for text in side]
        return collate(texts, forms).to(self.device)

    @torch.no_grad()
    def logits(self, rows: Sequence[tuple[WordRow, ...]], forms: WordForms) -> Tensor:
        """What the network says (examples, labels); rows of like length are run together."""
        size, what = (
            12 * len(rows) * len(self.labels.items),
            f"{len(rows):,} texts × {len(self.labels.items):,} labels",
        )
        if size > _MUCH:  # logits, probabilities, and one of them sorted
            check_memory(size, f"the scores of {what}", "give fewer texts at once")
        result = torch.empty(len(rows), len(self.labels.items))
        lengths = [max(map(len, row)) for row in rows]
        with eval_mode(self.net) as net:
            for some in length_sorted_chunks(lengths, max_rows=256, max_tokens=2**15):
                result[some] = net(self.collate([rows[i] for i in some], forms)).float().cpu()
        return result

    def scores(self, rows: Sequence[tuple[WordRow, ...]], forms: WordForms) -> Tensor:
        """Log-probabilities (examples, labels), with the temperature."""
        return self.decision.log_probs(self.logits(rows, forms))

    def answers(self, examples: LabelDataset) -> LabelAnswers:
        """What the network says of examples, beside what is right."""
        return LabelAnswers(self.logits(examples.rows, examples.forms), examples.labels, self.labels.items)

    def validate(self, examples: LabelDataset) -> dict[str, float]:
        return self._rank(self.decision.validate(self.answers(examples)))

    def evaluate_dataset(self, examples: LabelDataset) -> dict[str, float]:
        """Accuracy and macro-averaged F1, or the F1 of several labels; NLL in nats, all else in percent."""
        return dict(self.judge_answers(self.answers(examples)).scores)

    def report(self, dataset: LabelDataset, progress: Progress, **options: Any) -> Report:
        """The scores, each label, and where there is one label a text which was taken for which."""
        return self.judge_answers(self.answers(dataset))

    def judge_answers(self, answers: LabelAnswers) -> Report:
        """The report of the decision, with the score that chose the weights before the others."""
        report = self.decision.report(answers)
        return replace(report, scores=self._rank(report.scores))

    def _rank(self, scores: Mapping[str, float]) -> dict[str, float]:
        return {self.metric: scores[self.metric], **scores}

    def judge(self, dataset: LabelDataset, progress: Progress, **options: Any) -> Judgement:
        return judge_labels(self, dataset, self.answers(dataset))

    def calibrate(self, dataset: LabelDataset) -> dict[str, float]:
        """Choose temperature and thresholds; the scores that the examples have with them."""
        self.decision = self.decision.reset()
        if not len(dataset):
            return {}
        answers = self.answers(dataset)
        if self.config.calibrate:
            self.decision = self.decision.calibrate(answers)
        return dict(self.judge_answers(answers).scores)

    @property
    def own_ngrams(self) -> NGramModel | None:
        """The linear model of n-grams beside the network, where there is one."""
        return None

    def baseline(self, training: LabelDataset, valid: LabelDataset, seconds: float) -> BaselineResult:
        return judge_label_baselines(self, training, valid, seconds)

    def average_decision(self, others: Sequence[Any]) -> None:
        if any(type(other.decision) is not type(self.decision) for other in others):
            raise ConfigError("one model gives a text one label, another gives it several: they have no mean")
        self.decision = self.decision.mean([other.decision for other in others])

    def confidences(self, dataset: LabelDataset) -> Confidences:
        return self.decision.confidences(self.answers(dataset))

    def predictions(self, examples: LabelDataset) -> tuple[list[str], list[str]]:
        """The right labels and the guessed ones; several of a text are joined."""
        answers, join = self.answers(examples), self.decision.join
        guess = self.decision.decide(answers.logits, answers.names)
        return [join(g, answers.names) for g in answers.golds], [join(g, answers.names) for g in guess]

    def predict(
        self,
        examples: Iterable[str | tuple[str, ...] | Mapping[str, str]],
        *,
        threshold: float = 0.0,
        otherwise: str = "",
    ) -> list[Prediction]:
        """Labels for the texts of each example, with the probability of every label.

        A label that is less likely than ``threshold`` is not given; where none is left, ``otherwise`` is.
        """
        check_option("threshold", threshold, 0 <= threshold <= 1, "a probability, 0 to 1")
        texts = check_rows(examples, "predict", self.text_columns)
        found = self.decision.predict(self.logits(*self.encode_texts(texts)), self.labels.items)
        return [self.decision.withhold(p, threshold, otherwise) for p in found] if threshold else found

    def predict_rows(self, rows: Sequence[tuple[str, ...]], options: PredictOptions) -> Iterator[Answer]:
        """The label of each row, or the likeliest few with their probabilities."""
        predictions = self.predict(rows, threshold=options.threshold, otherwise=options.otherwise)
        for texts, prediction in zip(rows, predictions, strict=True):
            best = list(islice(prediction.probabilities.items(), options.n_best))
            line = "\t".join(f"{name} {format_probability(chance)}" for name, chance in best)
            given = [(prediction.label, prediction.confidence)] if options.n_best == 1 else best
            cells = [cell for name, chance in given for cell in (name, round(chance, 4))]
            record = {**dict(zip(self.text_columns, texts, strict=True)), **self.decision.record(prediction)}
            yield Answer(prediction.label if options.n_best == 1 else line, record, cells=cells)

    def answer_columns(self, options: PredictOptions) -> dict[str, type]:
        return rank_columns({"label": str, "confidence": float}, min(options.n_best, len(self.labels.items)))

    def _facts(self, network: str) -> list[str]:
        """For the model card: its labels and what it is made of."""
        facts = [*self.decision.facts(self.labels.items), f"network: {network}"]
        if self.featurizer.coverage:
            facts.append(f"pretrained vectors cover {self.featurizer.coverage}")
        return facts
