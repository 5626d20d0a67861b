"""What the rules for defaults look at: the data, the machine, the time that is given."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Any

import torch

from elman.number_format import format_number
from elman.pipeline.recipe import Recipe
from elman.tasks.data_facts import DataFacts
from elman.tasks.unlabelled_text import read_unlabelled


@dataclass(frozen=True)
class Facts(DataFacts):
    """All that is known before a model is built."""

    task: str = ""
    device: str = "cpu"  # or "cuda"
    cores: int = 1  # threads that compute
    minutes: float = 0.0  # that the run may take; 0: no limit
    timed: bool = False  # whether the minutes alone end it: neither epochs nor updates are given
    trained: bool = False  # whether it goes on from a model (``--init``)
    objective: str = "likelihood"  # what is trained for
    held: bool = False  # whether examples are held out of them to validate on
    unlabelled_texts: int = 0  # that are read, too
    unlabelled_words: int = 0

    def describe(self) -> str:
        """What was looked at, for people: ``5,452 texts of 9 words, 6 classes``."""
        if self.running:
            parts = [_count(self.tokens, "characters" if self.reads_characters else "words")]
        else:
            parts = [f"{_count(self.examples, self.noun)} of {_count(self.mean, 'words')}"]
        if self.target_words:
            parts.append(f"{format_number(self.target_mean, 2)} to write")
        if self.classes:
            parts.append(_count(len(self.classes), "classes"))
        if self.minutes:
            parts.append(_count(self.minutes, "minutes"))
        if self.unlabelled_texts:
            parts.append(f"{self.unlabelled_texts:,} without labels")
        if self.trained:
            parts.append("a trained model")
        if self.objective != "likelihood":
            parts.append(f"objective {self.objective}")
        return ", ".join(parts)


def _count(number: float, nouns: str) -> str:
    """A number of things, in the singular where there is one: ``1 minute``, ``9.5 words``."""
    said = f"{number:,}" if isinstance(number, int) else format_number(number, 2)
    return f"{said} {nouns}" if said != "1" else f"1 {nouns.removesuffix('es' if nouns == 'classes' else 's')}"


def gather_facts(recipe: Recipe, examples: Any, given: Collection[str], *, device: str, trained: bool) -> Facts:
    """The facts of a run whose data is read; ``given`` are the keys that the user says."""
    measured = recipe.task_class.measure(examples, recipe.tokens)
    data = {f.name: getattr(measured, f.name) for f in fields(measured)}
    texts = read_unlabelled(recipe.data) if getattr(recipe.data, "unlabelled", "") else []
    return Facts(
        **data,
        unlabelled_texts=len(texts),
        unlabelled_words=sum(len(text.split()) for text in texts),
        task=recipe.task,
        device=torch.device(device).type,
        cores=torch.get_num_threads(),
        minutes=recipe.training.minutes,
        held=not recipe.data.valid and recipe.data.holdout > 0,
        timed=bool(recipe.training.minutes) and not {"training.epochs", "training.updates"} & {*given},
        trained=trained,
        objective=recipe.objective.kind if recipe.objective else "likelihood",
    )
