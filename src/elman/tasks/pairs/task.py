"""Pairs: one label for two texts, such as paraphrase or not, entailment, duplicate question, answer or not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from elman.tasks.base import PredictOptions, TaskDefaults
from elman.tasks.config import TokenizerConfig
from elman.tasks.label_decision import Prediction
from elman.tasks.label_task import LabelTask
from elman.tasks.pairs import SPEC
from elman.tasks.pairs.data import PairsDataConfig, PairsExample, read_examples, split_line
from elman.tasks.pairs.explain import trace
from elman.tasks.pairs.network import PairsConfig, PairsNetwork
from elman.tasks.results import Answer, CardInfo
from elman.text.arguments import check_rows
from elman.text.byte_source import display_name
from elman.text.files import read_lines
from elman.text.length_limit import locate_long_texts

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
    noun = "pairs"
    batches_per_epoch = 200
    text_columns = ("first", "second")
    network = PairsNetwork
    read = staticmethod(read_examples)
    trace = trace

    def classify(
        self, pairs: Iterable[tuple[str, str]], *, threshold: float = 0.0, otherwise: str = ""
    ) -> list[Prediction]:
        """A label for each pair of texts, with the probability of every label.

        Where the likeliest label has less than ``threshold``, the label is ``otherwise``.
        """
        texts = check_rows(pairs, "classify", self.text_columns)
        return self.predict(texts, threshold=threshold, otherwise=otherwise)

    def predict_file(self, file: str, options: PredictOptions) -> Iterator[Answer]:
        """The label of each line `first<TAB>second`."""
        number, lines = 1, (line for _, line in read_lines(file, encoding=options.encoding))
        for some in options.chunks(lines):
            places = [f"{display_name(file)}:{i}" for i in range(number, number + len(some))]
            rows = [split_line(line, f"{place}: ") for place, line in zip(places, some, strict=True)]
            with locate_long_texts(places):
                yield from self.predict_rows(rows, options)
            number += len(some)

    def card_info(self) -> CardInfo:
        m = self.config
        network = f"siamese, {m.layers} × {m.cell}, {m.hidden} units, attention: {m.attention}"
        usage = 'classify([("one text", "another")])'
        return CardInfo("A classifier of pairs of texts", usage, self._facts(network))
