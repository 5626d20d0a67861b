"""Exercises of notebook 03, gates by hand."""

from __future__ import annotations

from typing import Any

import torch

from elman.course.exercise import Exercise
from elman.course.judges import differs, expect_number

VOWELS = "aeiou"


def _judge_memory(answer: Any) -> str | None:
    """The new memory of four numbers."""
    given = [int(number) for number in answer]
    if len(given) != 4:
        return f"The memory has 4 numbers, and your list has {len(given)}."
    said: dict[tuple[int, ...], str] = {
        (5, 2, 3, 8): "That is the opposite: x is written where the gate is 1.",
        (1, 0, 0, 4): "That lets x in, but forgets what is kept of s.",
        (11, 6, 7, 20): "That takes 1 + 1 as 2; on the gate it is 0.",
        (6, 6, 7, 12): "That adds x to s; where x is written, s is gone.",
    }
    if tuple(given) in said:
        return said[tuple(given)]
    right = [1, 6, 7, 4]
    place = next((i for i, (a, b) in enumerate(zip(given, right, strict=True)) if a != b), None)
    return None if place is None else f"Look at number {place + 1} of the list again."


def _judge_gate(gate: Any) -> str | None:
    """A gate of letters whose memory ends as the last vowel."""
    for word in ("strength", "document", "banana", "rhythm", "area"):
        memory = ""
        for letter in word:
            memory = letter if gate(letter, memory) else memory
        vowels = [letter for letter in word if letter in VOWELS]
        right = vowels[-1] if vowels else ""
        if memory != right:
            first = " That is the first vowel, not the last." if vowels and memory == vowels[0] else ""
            return f"After {word!r} your memory holds {memory!r}, and it should hold {right!r}.{first}"
    return None


def _judge_soft_gate(soft_gate: Any) -> str | None:
    """g = σ(W x + U h + b)."""
    x, h, b = torch.randn(3), torch.randn(4), torch.randn(4)
    W, U = torch.randn(4, 3), torch.randn(4, 4)
    given = soft_gate(x, h, W, U, b)
    inside = W @ x + U @ h + b
    for other, said in (
        (torch.tanh(inside), "tanh lies between −1 and 1; a gate lies between 0 and 1."),
        (inside, "The sum is right, but a gate lies between 0 and 1."),
        (torch.sigmoid(W @ x + U @ h), "The bias is missing."),
        (torch.sigmoid(inside) * h, "That is already what the gate lets through; return the gate itself."),
        ((inside > 0).float(), "That is a hard gate."),
    ):
        if differs(given, other) is None:
            return said
    return differs(given, torch.sigmoid(inside))


EXERCISES = (
    Exercise(
        number="03.1",
        asks="What is the new memory, as a list of four numbers?",
        judge=_judge_memory,
        hints=(
            "Go number by number: at each place either s or x survives.",
            "Where the gate is 1, x is written. Where it is 0, s is kept.",
            "At the first place the gate is 1, at the second it is 0.",
        ),
        why="Two numbers are overwritten, two survive untouched, for as long as their gate stays 0.",
    ),
    Exercise(
        number="03.2",
        asks="Which gate remembers the last vowel?",
        judge=_judge_gate,
        hints=(
            "The gate returns 1 to write the letter into the memory and 0 to leave the memory as it is.",
            "Each vowel may overwrite the one before.",
            "So the gate need not look at the memory at all.",
        ),
        why="The last vowel needs no look at the memory; the first one does: that is what U h is for.",
    ),
    Exercise(
        number="03.3",
        asks="What is a soft gate?",
        judge=_judge_soft_gate,
        hints=(
            "It is the sum of three vectors, as in the simple network, through another function.",
            "A gate must lie between 0 and 1.",
            "PyTorch has the function: torch.sigmoid.",
        ),
        why="The same three terms appear in every gate of the LSTM and of the GRU.",
    ),
    Exercise(
        number="03.4",
        asks="For which g do coupled gates give 7 from t = 8 and u = 4?",
        judge=expect_number(
            0.75,
            {
                0.25: "That gives 5: g is the share of t, and 1 − g the share of u.",
                7 / 8: "That forgets what u adds.",
                7 / 12: "The shares of t and u add up to 1; their values need not.",
            },
            tolerance=1e-6,
        ),
        hints=(
            "At g = 1 the result is 8, at g = 0 it is 4.",
            "The result moves evenly from 4 to 8 as g goes from 0 to 1.",
            "Solve 8g + 4(1 − g) = 7.",
        ),
        why="Three parts of the old and one part of the new.",
    ),
)
