"""demo classifier: from what is said of a parameter to its type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from elman.demo.counting import Labelled, NaiveBayes, commonest, pairs, words
from elman.demo.demo import Table
from elman.demo.parameters import descriptions
from elman.demo.sources import divided, files
from elman.metrics import accuracy, macro_f1

if TYPE_CHECKING:
    from elman.tasks.classifier import Classifier


@dataclass(frozen=True)
class Describing:
    """A classifier of descriptions of parameters, each with its type."""

    types: Mapping[str, str]
    minutes: float
    ask: str = "describe a parameter, and see which type it may have"

    @property
    def about(self) -> str:
        return (
            f"A classifier on {len(self.types):,} parameters that NumPy's and PyTorch's docstrings describe:\n"
            'from the description ("whether to use a bias") to the type (bool).'
        )

    def recipe(self, folder: Path) -> dict[str, Any]:
        paths = {}
        for part in ("train", "valid", "test"):
            path = folder / f"{part}.tsv"
            rows = "".join(f"{text}\t{label}\n" for text, label in self._part(part))
            path.write_text(f"text\tlabel\n{rows}", encoding="utf-8")
            paths[part] = str(path)
        return {
            "task": "classifier",
            "data": {"train": paths["train"], "valid": paths["valid"]},
            "tokens": {"lower": True},
            "model": {"characters": "cnn", "word_dropout": 0.1},
            "training": {"epochs": 12, "average": 0.98, "patience": 0, "minutes": self.minutes},
        }

    def results(self, model: Classifier) -> Table:
        known, held = self._part("train"), self._part("test")
        gold, texts = [label for _, label in held], [text for text, _ in held]
        ways = {
            "always the commonest": [commonest(known)] * len(held),
            "naive Bayes, words": [*map(NaiveBayes(known, words), texts)],
            "naive Bayes, words and pairs": [*map(NaiveBayes(known, pairs), texts)],
            "LSTM": [one.label for one in model.classify(texts)],
        }
        return Table(
            (f"{len(held)} held-out descriptions", "accuracy %", "macro F1 %"),
            [
                (way, f"{accuracy(gold, guess):.1f}", f"{macro_f1(gold, guess):.1f}")
                for way, guess in ways.items()
            ],
            f"{len(set(gold))} types; more is better",
        )

    def examples(self, model: Classifier) -> Iterator[str]:
        test = self._part("test")
        held = test[:: max(1, len(test) // 8)][:8]  # they stand in the order of the alphabet
        yield "Held-out descriptions, the right type, and what it guesses:"
        wide = min(60, max(len(text) for text, _ in held))
        for text, label in held:
            short = text if len(text) <= wide else f"{text[: wide - 1]}…"
            yield f"  {short:{wide}}  {label:8}  {self.answer(model, text)}"

    def answer(self, model: Classifier, text: str) -> str:
        [found] = model.classify([text])
        best = islice(found.probabilities.items(), 3)
        return "  ".join(f"{label} {chance:.0%}" for label, chance in best)

    def pictures(self, model: Classifier, folder: Path) -> Iterator[Path]:
        return iter(())  # words say it

    def commands(self, folder: Path) -> list[str]:
        where = quote(str(folder))
        return [
            f'echo "number of layers" | elman predict {where} --top 3',
            f"elman evaluate {where} {quote(str(folder / 'data' / 'test.tsv'))}",
        ]

    def _part(self, part: str) -> Labelled:
        chosen = getattr(divided(sorted(self.types), share=10), part)
        return [(text, self.types[text]) for text in chosen]


def prepared(minutes: float) -> Describing:
    """The demo on what is installed here."""
    return Describing(descriptions(files(("numpy", "torch"), inner=True)), minutes)
