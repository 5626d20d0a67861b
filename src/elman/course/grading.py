"""``check``: an answer is right, or it gets a hint, a more detailed one at each further try."""

from __future__ import annotations

import dis
from collections import Counter
from types import FunctionType
from typing import Any

import torch

from elman.course.exercise import Exercise, find_exercise
from elman.errors import shorten
from elman.formula import Formula

_tries: Counter[str] = Counter()  # wrong answers to each exercise, in this session


def check(number: str, answer: Any) -> bool:
    """Whether the answer to an exercise is right; prints that, or a hint that fits."""
    exercise = find_exercise(number)
    if is_blank(answer):
        print(f"○ {number}: your turn. {exercise.asks}\n  {_hint(exercise, 1)}")
        return False
    mistake = _judge(exercise, answer)
    if mistake is None:
        print(f"✓ {number}: right. {exercise.why}")
        return True
    _tries[number] += 1
    print(f"✗ {number}: not yet. {mistake}\n  {_hint(exercise, _tries[number])}")
    return False


def is_blank(answer: Any) -> bool:
    """Whether nothing was answered: ``...``, a collection that holds it, or a function without a body."""
    if isinstance(answer, tuple | list | dict):
        parts = answer.values() if isinstance(answer, dict) else answer
        return any(part is ... for part in parts)
    function = answer.function if isinstance(answer, Formula) else answer
    return answer is ... or (isinstance(function, FunctionType) and _returns_none_at_once(function))


def _returns_none_at_once(function: FunctionType) -> bool:
    steps = [step for step in dis.get_instructions(function) if step.opname not in ("RESUME", "NOP")]
    simple = {"LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"}
    return all(step.opname in simple and step.argval is None for step in steps)


def _judge(exercise: Exercise, answer: Any) -> str | None:
    """The mistake; random numbers of the notebook go on as if nothing had been judged."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        try:
            return exercise.judge(answer)
        except Exception as error:  # of the student's code, or of an answer of another kind
            return f"Trying your answer raised {type(error).__name__}: {shorten(str(error))}"


def _hint(exercise: Exercise, tries: int) -> str:
    place = min(tries, len(exercise.hints))
    return f"Hint {place} of {len(exercise.hints)}: {exercise.hints[place - 1]}"
