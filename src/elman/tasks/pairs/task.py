"""Pairs: one label for two texts, such as paraphrase or not, entailment, duplicate question, answer or not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from elman.tasks.base import PredictOptions, TaskDefaults
from elman.tasks.config import TokenizerConfig
from elman.tasks.label_task import LabelTask, Prediction
from elman.tasks.pairs import SPEC
from elman.tasks.pairs.data import PairsDataConfig, PairsExample, read_examples
from elman.tasks.pairs.explain import trace
from elman.tasks.pairs.network import PairsConfig, PairsNetwork
from elman.tasks.results import Answer, CardInfo
from elman.text.tables import read_rows

__all__ = [
    "Pairs",
    "PairsConfig",
    "PairsDataConfig",
    "PairsExample",
    "PairsNetwork",
    "Prediction",
    "read_examples",
]


class Pairs(LabelTask[PairsConfig, PairsNetwork]):
    """Pairs of texts to labels. Make one with ``from_examples``, or load one from a model folder."""

    spec = SPEC
    defaults = TaskDefaults(
        PairsDataConfig(),
        TokenizerConfig(lower=True),
        PairsConfig(),
        {"lr": 4e-3, "epochs": 8, "patience": 3},
        objectives=False,
    )
    batches_per_epoch = 200
    predict_options = LabelTask.predict_options | {"table"}
    network = PairsNetwork
    read = staticmethod(read_examples)
    trace = trace

    def classify(self, pairs: Iterable[tuple[str, str]]) -> list[Prediction]:
        """A label for each pair of texts, with the probability of every label."""
        return self.predict(pairs)

    def predict_file(self, file: str, options: PredictOptions) -> Iterator[Answer]:
        """The label of each row of a table with columns first and second, or of each `first<TAB>second`."""
        rows = read_rows(file, ("first", "second"), encoding=options.encoding)
        for some in options.chunks(texts for _, texts in rows):
            yield from self._answer([{"first": a, "second": b} for a, b in some], options)

    def card_info(self) -> CardInfo:
        m = self.config
        network = f"siamese, {m.layers} × {m.cell}, {m.hidden} units, attention: {m.attention}"
        usage = 'classify([("one text", "another")])'
        return CardInfo("A classifier of pairs of texts", usage, self._facts(network))
