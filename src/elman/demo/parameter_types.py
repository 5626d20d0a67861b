"""demo classifier: from what NumPy's and PyTorch's docstrings say of a parameter to its type."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elman.demo.demonstration import Demo, ResultTable
from elman.demo.label_baselines import NaiveBayes, most_common_label, unigrams, unigrams_and_bigrams
from elman.demo.source_files import SourceFile, source_files
from elman.errors import DataError
from elman.metrics import accuracy, macro_f1
from elman.number_format import format_percent

if TYPE_CHECKING:
    from elman.tasks.classifier.task import Classifier

FEWEST = 1000
"""With fewer descriptions than these nothing can be shown."""

# `dim (int, optional): the dimension to reduce`, which may go on below, further to the right
_GOOGLE = re.compile(
    r"^([ \t]+)[*`]*\w+`*[ ]*\(([^()\n]+(?:\([^()\n]*\)[^()\n]*)*)\)[ ]*:[ \t]*"
    r"(\S.*(?:\n\1[ \t]+\S.*)*)",
    re.MULTILINE,
)
# `axis : int, optional`, and below it, further to the right, what it is
_NUMPY = re.compile(r"^([ \t]*)\*?\w+(?:, \w+)* : (\S.*)\n((?:\1[ \t]+\S.*(?:\n|$))+)", re.MULTILINE)
_MARKUP = re.compile(r":\w+:(?=`)|[`~*]")
_FIRST = re.compile(r"^(?:Optional\[|optional,? |an? )")

TYPES = {
    "bool": r"bool",
    "int": r"(?:int|integer)s?\b",
    "float": r"float|double|scalar|Number",
    "str": r"(?:str|string)\b",
    "callable": r"callable|function|Callable",
    "array": r"(?:torch\.)?Tensor|array|ndarray|LongTensor|FloatTensor",
    "dict": r"dict|Dict|[Mm]apping",
    "list": r"[Ll]ist|[Tt]uple|[Ss]equence|[Ii]terable",
    "dtype": r"(?:torch\.)?dtype|data-type|data type",
    "device": r"(?:torch\.)?device",
}
"""The labels, and how a type that is one of them begins."""


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
        known, texts = self._examples("train"), self.keys("test")
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
        return "  ".join(f"{label} {format_percent(chance)}" for label, chance in best)

    def file_text(self, part: str) -> str:
        return "text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in self._examples(part))

    def _examples(self, part: str) -> list[tuple[str, str]]:
        return [(text, self.data[text]) for text in self.keys(part)]


def descriptions(files: Iterable[SourceFile]) -> dict[str, str]:
    """Each description with its type: of several the commonest."""
    seen: dict[str, Counter[str]] = {}
    for file in files:
        for type_, text in _find_parameters(file.text):
            seen.setdefault(text, Counter())[type_] += 1
    if len(seen) < FEWEST:
        raise DataError(
            f"only {len(seen)} descriptions of parameters were found in NumPy's and PyTorch's docstrings; "
            f"the demo needs {FEWEST:,}: run it where both are installed with their sources"
        )
    return {text: types.most_common(1)[0][0] for text, types in seen.items()}


def _find_parameters(text: str) -> Iterator[tuple[str, str]]:
    for style in (_GOOGLE, _NUMPY):
        for _, said, description in style.findall(text):
            type_, plain = label(said), sentence(description)
            if type_ and plain:
                yield type_, plain


def label(said: str) -> str | None:
    """The label for a type as it is written in a docstring; None where it is another."""
    plain = _FIRST.sub("", _MARKUP.sub("", said).strip())
    return next((name for name, form in TYPES.items() if re.match(form, plain)), None)


def sentence(description: str) -> str:
    """The first sentence of a description, or nothing if that is too short, too long or no text."""
    plain = " ".join(_MARKUP.sub("", description).split())
    first = re.split(r"(?<=[a-z)])\. ", plain)[0].removesuffix(".")
    fits = len(first.split()) >= 3 and len(first) <= 200 and first[0].isalpha()
    return first if fits else ""


def prepare(minutes: float) -> ParameterTypeDemo:
    """The demo on what is installed here."""
    return ParameterTypeDemo(descriptions(source_files(("numpy", "torch"), inner=True)), minutes)
