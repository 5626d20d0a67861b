"""demo lm: write as the documentation of Python is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from elman.demo.demo import Table
from elman.demo.ngrams import CharacterModel
from elman.demo.prose import enough, prose
from elman.demo.sources import divided, files

if TYPE_CHECKING:
    from elman.tasks.language_model import LanguageModel

ORDER = 6  # of the baseline: the best of 3 to 7 on the held-out text
PROMPTS = ("Return the", "If the file", "This function")
BEGUN = ("Return a new arr", "Raise an exception if the ", "a list of str")


@dataclass(frozen=True)
class Writing:
    """A language model of subwords on English sentences, which stand under the name of their file."""

    sentences: Mapping[str, list[str]]
    minutes: float
    ask: str = "begin a sentence; Tab takes the word that is shown, Enter lets the model write on"

    @property
    def about(self) -> str:
        count = sum(map(len, self.sentences.values()))
        return (
            f"A language model on {count:,} sentences from the docstrings and comments of Python, NumPy "
            "and PyTorch.\nWhole files are held out."
        )

    def recipe(self, folder: Path) -> dict[str, Any]:
        for part in ("train", "valid", "test"):
            (folder / f"{part}.txt").write_text(self._text(part), encoding="utf-8")
        return {
            "task": "lm",
            "data": {
                "train": str(folder / "train.txt"),
                "valid": str(folder / "valid.txt"),
                "cache": str(folder),
                "batch": 32,
                "steps": 35,
            },
            "tokens": {"kind": "bpe", "size": 2000},
            "model": {"hidden": 256, "embedding": 256, "layers": 1, "dropout": 0.1},
            "training": {"epochs": 2, "minutes": self.minutes},
        }

    def results(self, model: LanguageModel) -> Table:
        test = self._text("test")
        # Each stream begins without a past, which must not weigh much.
        data = replace(model.encode(test.splitlines()), rows=max(1, min(16, len(test) // 8000)))
        counted = CharacterModel(self._text("train"), ORDER).bits_per_character(test)
        learnt = model.evaluate(data)["bits_per_character"]
        return Table(
            ("held-out text", "bits a character"),
            [(f"{ORDER}-grams of characters", f"{counted:.3f}"), ("LSTM", f"{learnt:.3f}")],
            "less is better",
        )

    def examples(self, model: LanguageModel) -> Iterator[str]:
        from elman.tasks.writing.generation import Sampling
        from elman.tasks.writing.rules import Rules

        yield "Sentences it writes:"
        rules = Rules(max_tokens=60)
        for prompt in PROMPTS:
            way = Sampling(temperature=0.5, seed=1)
            for written in model.generate(prompt, way, n=2, rules=rules):
                yield f"  {written}"
        yield ""
        yield "Words it completes:"
        for text in BEGUN:
            yield f"  {text}…  {self.answer(model, text)}"

    def answer(self, model: LanguageModel, text: str) -> str:
        return "  ".join(f"{one.text} {one.probability:.0%}" for one in model.complete(text))

    def continued(self, model: LanguageModel, text: str) -> str:
        """A sentence that begins so."""
        from elman.tasks.writing.generation import Sampling
        from elman.tasks.writing.rules import Rules

        [written] = model.generate(text, Sampling(temperature=0.5), rules=Rules(max_tokens=60))
        return written.text

    def pictures(self, model: LanguageModel, folder: Path) -> Iterator[Path]:
        return iter(())  # words say it

    def commands(self, folder: Path) -> list[str]:
        where = quote(str(folder))
        return [
            f'elman generate {where} --prompt "If the" --temperature 0.5 -n 5',
            f'elman complete {where} "Return a new arr"',
            f"elman complete {where}",
            f'echo "Return the name of the file." | elman score {where}',
        ]

    def _text(self, part: str) -> str:
        chosen = getattr(divided(sorted(self.sentences)), part)
        return "".join(f"{sentence}\n" for name in chosen for sentence in self.sentences[name])


def prepared(minutes: float) -> Writing:
    """The demo on what is installed here."""
    return Writing(enough(prose(files(("", "numpy", "torch")))), minutes)
