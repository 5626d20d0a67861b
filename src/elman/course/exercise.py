"""An exercise of a notebook: what is asked, who judges an answer, and hints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from elman.errors import ConfigError, quote

Judge = Callable[[Any], str | None]  # None if the answer is right, else the sentence that fits the mistake
NOTEBOOKS = tuple(f"{number:02}" for number in range(1, 13))


@dataclass(frozen=True)
class Exercise:
    """One question of a notebook; hints come one at a time and never hold the answer."""

    number: str  # of the notebook and of the exercise in it: "01.2"
    asks: str
    judge: Judge
    hints: tuple[str, ...]  # the shortest help first
    why: str  # said when the answer is right


def find_exercise(number: str) -> Exercise:
    """The exercise of that number; an unknown number is an error that says which there are."""
    notebook = number.partition(".")[0] if isinstance(number, str) else ""
    if notebook not in NOTEBOOKS:
        raise ConfigError(f"unknown exercise {quote(str(number))}; the first one is '01.1'")
    known = {exercise.number: exercise for exercise in list_exercises(notebook)}
    if number not in known:
        raise ConfigError(f"unknown exercise {quote(number)}; notebook {notebook} has {', '.join(known)}")
    return known[number]


def list_exercises(notebook: str) -> tuple[Exercise, ...]:
    """The exercises of a notebook, given by its number of two digits."""
    exercises: tuple[Exercise, ...] = import_module(f"elman.course.exercises_{notebook}").EXERCISES
    return exercises
