"""Judges that several exercises need: of a number, of a word, of a tensor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from elman.course.exercise import Judge
from elman.number_format import format_number
from elman.shapes import Tensor


def expect_number(right: float, mistakes: Mapping[float, str], *, tolerance: float = 0.0) -> Judge:
    """A judge of one number; ``mistakes`` says what went wrong where a plausible other number is given."""

    def judge(answer: Any) -> str | None:
        value = float(answer)
        if abs(value - right) <= tolerance:
            return None
        near = (said for wrong, said in mistakes.items() if abs(value - wrong) <= tolerance)
        return next(near, f"{format_number(value)} is too {'small' if value < right else 'large'}.")

    return judge


def expect_word(right: str, mistakes: Mapping[str, str]) -> Judge:
    """A judge of one word, in small or large letters; ``mistakes`` says why another word is wrong."""

    def judge(answer: Any) -> str | None:
        if not isinstance(answer, str):
            return f"The answer is a word in quotes, not {type(answer).__name__}."
        word = answer.strip().lower()
        known = ", ".join(sorted({right, *mistakes}))
        return None if word == right else mistakes.get(word, f"{answer!r} is none of these: {known}.")

    return judge


def differs(answer: Any, right: Tensor, *, tolerance: float = 1e-5) -> str | None:
    """What is wrong with a tensor: its kind, its shape or its values; None if nothing is."""
    if not isinstance(answer, Tensor):
        return f"A tensor is expected, and this is {type(answer).__name__}."
    if answer.shape != right.shape:
        return f"The shape should be {tuple(right.shape)}, and it is {tuple(answer.shape)}."
    same = torch.allclose(answer.detach().to(right), right, atol=tolerance, rtol=tolerance)
    return None if same else "The shape is right, the values are not."
