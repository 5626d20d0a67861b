"""Classification: one label for a text."""

from __future__ import annotations

from collections.abc import Iterable

from elman.tasks.base import TaskDefaults
from elman.tasks.classifier import SPEC
from elman.tasks.classifier.data import ClassifierDataConfig, ClassifierExample, read_examples
from elman.tasks.classifier.explain import trace
from elman.tasks.classifier.network import ClassifierConfig, ClassifierNetwork
from elman.tasks.config import TokenizerConfig
from elman.tasks.label_task import LabelTask, Prediction
from elman.tasks.results import CardInfo

__all__ = [
    "Classifier",
    "ClassifierConfig",
    "ClassifierDataConfig",
    "ClassifierExample",
    "ClassifierNetwork",
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
    trace = trace

    def classify(self, texts: Iterable[str]) -> list[Prediction]:
        """A label for each text, with the probability of every label."""
        return self.predict((text,) for text in texts)

    def card_info(self) -> CardInfo:
        m = self.config
        encoder = f"{m.layers} × {m.cell}, {m.hidden} units" if m.encoder == "rnn" else m.encoder
        return CardInfo("A text classifier", 'classify(["some text"])', self._facts(encoder))
