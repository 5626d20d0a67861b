"""demo classifier: from what is said of a parameter to its type."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elman.demo.demonstration import Demo, ResultTable
from elman.demo.docstring_parameters import descriptions
from elman.demo.label_baselines import NaiveBayes, most_common_label, unigrams, unigrams_and_bigrams
from elman.demo.source_files import source_files
from elman.metrics import accuracy, macro_f1

if TYPE_CHECKING:
    from elman.tasks.classifier.task import Classifier


class ParameterTypeDemo(Demo[str]):
    """A classifier of descriptions of parameters, each with its type."""

    share, extension = 10, "tsv"
    ask = "describe a parameter, and see which type it may have"
    next_commands = ('echo "number of layers" | elman predict {model} --top 3', "elman evaluate {model} {test}")

    @property
    def about(self) -> str:
        return (
            f"A classifier on {len(self.data):,} parameters that NumPy's and PyTorch's docstrings describe:\n"
            'from the description ("whether to use a bias") to the type (bool).'
        )

    def recipe(self, folder: Path) -> dict[str, Any]:
        return {
            "task": "classifier",
            "data": self.write_files(folder),
            "tokens": {"lower": True},
            "model": {"characters": "cnn", "word_dropout": 0.1},
            "training": {"epochs": 12, "ema_decay": 0.98, "patience": 0, "minutes": self.minutes},
        }

    def results(self, model: Classifier) -> ResultTable:
        known, texts = self._labelled("train"), self.keys("test")
        gold = [self.data[text] for text in texts]
        ways = {
            "always the commonest": [most_common_label(known)] * len(texts),
            "naive Bayes, words": [*map(NaiveBayes(known, unigrams), texts)],
            "naive Bayes, words and pairs": [*map(NaiveBayes(known, unigrams_and_bigrams), texts)],
            "LSTM": [one.label for one in model.classify(texts)],
        }
        return ResultTable(
            (f"{len(texts)} held-out descriptions", "accuracy %", "macro F1 %"),
            [(way, f"{accuracy(gold, it):.1f}", f"{macro_f1(gold, it):.1f}") for way, it in ways.items()],
            f"{len(set(gold))} types; more is better",
        )

    def examples(self, model: Classifier) -> Iterator[str]:
        test = self.keys("test")
        held = test[:: max(1, len(test) // 8)][:8]  # they stand in the order of the alphabet
        yield "Held-out descriptions, the right type, and what it guesses:"
        wide = min(60, max(map(len, held)))
        for text in held:
            short = text if len(text) <= wide else f"{text[: wide - 1]}…"
            yield f"  {short:{wide}}  {self.data[text]:8}  {self.answer(model, text)}"

    def answer(self, model: Classifier, text: str) -> str:
        [found] = model.classify([text])
        best = islice(found.probabilities.items(), 3)
        return "  ".join(f"{label} {chance:.0%}" for label, chance in best)

    def file_text(self, part: str) -> str:
        return "text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in self._labelled(part))

    def _labelled(self, part: str) -> list[tuple[str, str]]:
        return [(text, self.data[text]) for text in self.keys(part)]


def prepare(minutes: float) -> ParameterTypeDemo:
    """The demo on what is installed here."""
    return ParameterTypeDemo(descriptions(source_files(("numpy", "torch"), inner=True)), minutes)
