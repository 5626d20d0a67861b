"""Classification: one label for a text, or several."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

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
from elman.tasks.classifier.network import ClassifierConfig, ClassifierNetwork
from elman.tasks.config import TokenizerConfig
from elman.tasks.label_data import MultilabelExample
from elman.tasks.label_decision import Prediction
from elman.tasks.label_task import LabelTask
from elman.tasks.results import CardInfo
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


class Classifier(LabelTask[ClassifierConfig, ClassifierNetwork]):
    """Texts to labels. Make one with ``from_examples``, or load one from a model folder."""

    spec = SPEC
    defaults = TaskDefaults(
        ClassifierDataConfig(),
        TokenizerConfig(),
        ClassifierConfig(),
        {"lr": 2e-3, "epochs": 15, "patience": 4},
        objectives=False,
    )
    network = ClassifierNetwork
    read = staticmethod(read_examples)
    resolve_data = staticmethod(resolve_delimiter)
    trace = trace
    blueprint = list_classifier_parts

    @classmethod
    def split(cls, data: ClassifierDataConfig) -> tuple[list[Any], list[Any]]:
        """Where the phrases of trees are trained on, whole trees are held out, and judged by their roots."""
        if data.valid or not data.phrases:
            return super().split(data)
        _, held = super().split(replace(data, phrases=False))
        trees = {example.where for example in held}
        return [e for e in cls.read(data, data.train, train=True) if e.where not in trees], held

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
