"""Classification: one label for a text, or several."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from elman.free_memory import check_memory
from elman.layers.ngrams import NGramModel
from elman.shapes import Tensor
from elman.tasks.base import TaskDefaults
from elman.tasks.classifier import SPEC
from elman.tasks.classifier.classifier_blueprint import list_classifier_parts
from elman.tasks.classifier.data import (
    ClassifierDataConfig,
    ClassifierExample,
    read_examples,
    resolve_delimiter,
)
from elman.tasks.classifier.explain import trace
from elman.tasks.classifier.fold_mixture import choose_by_folds
from elman.tasks.classifier.guesses import ClassifierPretrainingConfig, add_guesses, fit_with_guesses
from elman.tasks.classifier.network import ClassifierConfig, ClassifierNetwork
from elman.tasks.config import TokenizerConfig
from elman.tasks.few_texts import FEW, FOLDS, fit_few_texts
from elman.tasks.folds import deal_texts
from elman.tasks.label_data import LabelDataset, MultilabelExample
from elman.tasks.label_decision import LossOptions, Prediction
from elman.tasks.label_task import LabelTask
from elman.tasks.logistic_regression import fit_mixture
from elman.tasks.ngram_fit import LabelLoss, NGramChoice, choose_ngrams, fit_ngram_model
from elman.tasks.results import CardInfo
from elman.tasks.softmax_decision import SoftmaxDecision
from elman.text.arguments import check_texts

__all__ = [
    "Classifier",
    "ClassifierConfig",
    "ClassifierDataConfig",
    "ClassifierExample",
    "ClassifierNetwork",
    "MultilabelExample",
    "Prediction",
    "read_examples",
]


_FOLDED = 20_000  # words of all texts; five more networks of them take a minute or two


class Classifier(LabelTask[ClassifierConfig, ClassifierNetwork]):
    """Texts to labels. Make one with ``from_examples``, or load one from a model folder."""

    spec = SPEC
    defaults = TaskDefaults(
        ClassifierDataConfig(),
        TokenizerConfig(),
        ClassifierConfig(),
        {"lr": 2e-3, "epochs": 15, "patience": 4},
        ClassifierPretrainingConfig(),
        objectives=False,
    )
    network = ClassifierNetwork
    _choice: NGramChoice | None = None  # how the n-grams were fitted, where that was chosen
    _fits_ngrams = False  # whether the n-grams are of this run
    ngram_answers: Tensor | None = None  # of the n-grams of few texts, to each without having read it
    _few_words = False  # whether these texts are short, too
    unlabelled: Sequence[tuple[str, ...]] = ()  # texts that the n-grams are fitted to with guesses, if any
    read = staticmethod(read_examples)
    resolve_data = staticmethod(resolve_delimiter)
    trace = trace
    guess_labels = add_guesses
    choose_by_folds = choose_by_folds
    blueprint = list_classifier_parts

    @classmethod
    def split(cls, data: ClassifierDataConfig) -> tuple[list[Any], list[Any]]:
        """Where the phrases of trees are trained on, whole trees are held out, and judged by their roots."""
        if data.valid or not data.phrases:
            return super().split(data)
        _, held = super().split(replace(data, phrases=False))
        trees = {example.where for example in held}
        return [e for e in cls.read(data, data.train, train=True) if e.where not in trees], held

    @classmethod
    def split_fold(cls, data: ClassifierDataConfig) -> tuple[list[Any], list[Any], list[Any]]:
        """Of trees, too, whole ones are in a fold, and judged by their roots."""
        training, held, fold = super().split_fold(replace(data, phrases=False))
        if not data.phrases:
            return training, held, fold
        trees = {example.where for example in training}
        return [e for e in cls.read(data, data.train, train=True) if e.where in trees], held, fold

    @classmethod
    def from_folder(cls, config: ClassifierConfig, folder: Path, weights: Mapping[str, Tensor]) -> Classifier:
        model = super().from_folder(config, folder, weights)
        if config.ngrams:
            model.net.ngrams = NGramModel(*weights["ngrams.W"].shape)
        return model

    def fit_statistics(self, examples: LabelDataset) -> None:
        """Fit the model of n-grams, too, if there is to be one; where it is fitted already, it stays."""
        super().fit_statistics(examples)
        if self.net.ngrams is not None and not len(self.net.ngrams.keys):
            began = time.monotonic()
            self._fit_ngrams(examples)
            self.ngram_seconds = time.monotonic() - began

    def learn_held_out(self, training: list[Any], held: list[Any]) -> None:
        """Fit the n-grams as chosen before to all examples; the network stays as it is."""
        if self.unlabelled and held:
            fit_with_guesses(self, [*training, *held])
        elif self._fits_ngrams and held:
            self._fit_ngrams(self.encode([*training, *held]))

    def _fit_ngrams(self, examples: LabelDataset) -> None:
        """Fit them by what was chosen before, or is chosen now; where texts are few, nothing is."""
        texts, forms, labels = [text for (text,) in examples.rows], examples.forms, len(self.labels.items)
        self._fits_ngrams = True
        what = f"the n-grams of {len(texts):,} texts × {labels:,} labels"
        check_memory(20.0 * len(texts) * labels, what, "leave them out with --set model.ngrams=false")
        few = len(texts) < FEW or self.ngram_answers is not None  # also with those that were held out
        if few and isinstance(self.decision, SoftmaxDecision) and not self.config.class_weights:
            model, self.ngram_answers = fit_few_texts(texts, forms, torch.tensor(examples.labels), labels)
            self._few_words = sum(map(len, texts)) <= _FOLDED
        else:
            loss = self._ngram_loss(examples)
            self._choice = self._choice or choose_ngrams(texts, forms, labels, loss)
            model = fit_ngram_model(texts, forms, labels, loss, self._choice)
        self.net.ngrams = model.to(self.device)

    def _ngram_loss(self, examples: LabelDataset) -> LabelLoss:
        golds = self.decision.tabulate(examples.labels, len(self.labels.items))
        options = LossOptions(weights=self._weights)
        return lambda logits, numbers: self.decision.loss(logits, golds[numbers], options)

    @property
    def own_ngrams(self) -> NGramModel | None:
        return self.net.ngrams

    def calibrate(self, dataset: LabelDataset) -> dict[str, float]:
        """Choose how much the network and the n-grams count, too."""
        if self.net.mix is not None:
            self.net.mix.copy_(self._choose_mix(self.net.mix, dataset))
        return super().calibrate(dataset)

    def _choose_mix(self, mix: Tensor, dataset: LabelDataset) -> Tensor:
        if not self.config.calibrate:
            return torch.full_like(mix, 0.5)
        parts = []
        for alone in torch.eye(2):
            mix.copy_(alone)
            parts.append(self.logits(dataset.rows, dataset.forms))
        return fit_mixture(parts, lambda z: self.decision.loss(z, dataset.labels, LossOptions()))

    def deal_folds(self, dataset: LabelDataset) -> Tensor | None:
        """Of few texts, if they are short: a tenth of them would say by chance how much the network counts."""
        if not self._few_words or not self.config.calibrate or self.unlabelled:
            return None
        return deal_texts([text.tobytes() for (text,) in dataset.rows], FOLDS)

    def judge_alone(self, dataset: LabelDataset) -> Tensor:
        mix, self.net.mix = self.net.mix, None
        try:
            return self.logits(dataset.rows, dataset.forms)
        finally:
            self.net.mix = mix

    def build_batches(self, dataset: LabelDataset, data: ClassifierDataConfig, seed: int) -> Any:
        """Of long texts only what is read counts; how much is left out is said."""
        most, lengths = self.config.max_tokens, [len(text) for (text,) in dataset.rows]
        cut = [length - most for length in lengths if 0 < most < length]
        if cut:
            warnings.warn(
                f"{len(cut):,} of {len(lengths):,} texts are longer than {most:,} tokens: their beginning and "
                f"their end are read, not the middle, {100 * sum(cut) / sum(lengths):.0f} % of all tokens; "
                "model.max_tokens=0 reads all",
                stacklevel=2,
            )
        return super().build_batches(replace(dataset, max_tokens=most), data, seed)

    def classify(
        self, texts: Iterable[str], *, threshold: float = 0.0, otherwise: str = ""
    ) -> list[Prediction]:
        """A label for each text, or several, with the probability of every label.

        Where the likeliest label has less than ``threshold``, the label is ``otherwise``.
        """
        return self.predict(check_texts(texts, "classify"), threshold=threshold, otherwise=otherwise)

    def card_info(self) -> CardInfo:
        m = self.config
        encoder = f"{m.layers} × {m.cell}, {m.hidden} units" if m.encoder == "rnn" else m.encoder
        return CardInfo("A text classifier", 'classify(["some text"])', self._facts(encoder))
