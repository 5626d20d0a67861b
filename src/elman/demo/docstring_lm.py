"""demo lm: write as the documentation of Python is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elman.demo.demonstration import Demo, ResultTable
from elman.demo.docstring_sentences import collect_sentences, require_enough
from elman.demo.ngram_baseline import CharacterNGramModel
from elman.demo.source_files import source_files
from elman.number_format import format_percent

if TYPE_CHECKING:
    from elman.generation import Generation
    from elman.tasks.language_model.task import LanguageModel

ORDER = 6  # of the baseline: the best of 3 to 7 on the held-out text
PROMPTS = ("Return the", "If the file", "This function")
BEGUN = ("Return a new arr", "Raise an exception if the ", "a list of str")


class DocstringDemo(Demo[list[str]]):
    """A language model of subwords on English sentences, which stand under the name of their file."""

    extension = "txt"
    ask = "begin a sentence; Tab takes the word that is shown, Enter lets the model write on"
    next_commands = (
        'elman generate {model} --prompt "If the" --temperature 0.5 -n 5',
        'elman complete {model} "Return a new arr"',
        "elman complete {model}",
        'echo "Return the name of the file." | elman score {model}',
    )

    @property
    def about(self) -> str:
        count = sum(map(len, self.data.values()))
        return (
            f"A language model on {count:,} sentences from the docstrings and comments of Python, NumPy "
            "and PyTorch.\nWhole files are held out."
        )

    def recipe(self, folder: Path) -> dict[str, Any]:
        return {
            "task": "lm",
            "data": {**self.write_files(folder), "cache": str(folder), "streams": 32, "bptt": 35},
            "tokens": {"kind": "bpe", "size": 2000},
            "model": {"hidden": 256, "embedding": 256, "layers": 1, "dropout": 0.1},
            "training": {"epochs": 2, "minutes": self.minutes},
        }

    def results(self, model: LanguageModel) -> ResultTable:
        test = self.file_text("test")
        # Each stream begins without a past, which must not weigh much.
        data = replace(model.encode(test.splitlines()), rows=max(1, min(16, len(test) // 8000)))
        counted = CharacterNGramModel(self.file_text("train"), ORDER).bits_per_character(test)
        learnt = model.evaluate_dataset(data)["bits_per_character"]
        rows = [(f"{ORDER}-grams of characters", f"{counted:.3f}"), ("LSTM", f"{learnt:.3f}")]
        return ResultTable(("held-out text", "bits a character"), [*rows], "less is better")

    def examples(self, model: LanguageModel) -> Iterator[str]:
        yield "Sentences it writes:"
        for prompt in PROMPTS:
            yield from (f"  {written}" for written in _write(model, prompt, n=2, seed=1))
        yield ""
        yield "Words it completes:"
        for text in BEGUN:
            yield f"  {text}…  {self.answer(model, text)}"

    def answer(self, model: LanguageModel, text: str) -> str:
        return "  ".join(f"{one.text} {format_percent(one.probability)}" for one in model.complete(text))

    def continue_text(self, model: LanguageModel, text: str) -> str:
        """A sentence that begins so."""
        return _write(model, text)[0].text

    def file_text(self, part: str) -> str:
        return "".join(f"{sentence}\n" for name in self.keys(part) for sentence in self.data[name])


def _write(model: LanguageModel, prompt: str, n: int = 1, seed: int | None = None) -> list[Generation]:
    from elman.generation import GenerationConfig, Sampling

    way = Sampling(temperature=0.5, seed=seed)
    return model.generate(prompt, way, n=n, config=GenerationConfig(max_tokens=60))


def prepare(minutes: float) -> DocstringDemo:
    """The demo on what is installed here."""
    return DocstringDemo(require_enough(collect_sentences(source_files(("", "numpy", "torch")))), minutes)
