"""Exercises of notebook 01, the recurrence."""

from __future__ import annotations

from typing import Any

import torch

from elman.course.exercise import Exercise
from elman.course.judges import differs, expect_number


def _judge_largest(R: Any) -> str | None:
    """R(s, x) must give the largest number so far, also of numbers below zero."""
    for numbers in ([3, 1, 4, 1, 5], [-7, -2, -9], [2, 8, 8, 1]):
        state = float("-inf")
        for place, number in enumerate(numbers):
            state = R(state, number)
            right = max(numbers[: place + 1])
            if state != right:
                return f"After {numbers[: place + 1]} your state is {state}, and it should be {right}."
    return None


def _judge_step(step: Any) -> str | None:
    """One step of the simple network, against the formula."""
    h, x, b = torch.randn(3), torch.randn(2), torch.randn(3)
    W, U = torch.randn(3, 2), torch.randn(3, 3)
    new = step(h, x, W, U, b)
    inside = W @ x + U @ h + b
    mistake = differs(new, torch.tanh(inside))
    for other, said in (
        (inside, "The sum is right, but it is not squashed by tanh."),
        (torch.tanh(W @ x + U @ h), "The bias is missing."),
        (torch.tanh(W @ x + b), "The old state has no influence."),
        (torch.tanh(W @ x + U.T @ h + b), "U must multiply h from the left, as it is: U @ h."),
    ):
        if differs(new, other) is None:
            return said
    return mistake


EXERCISES = (
    Exercise(
        number="01.1",
        asks="Which R remembers the largest number so far?",
        judge=_judge_largest,
        hints=(
            "The new state depends on two numbers only: the old state and the new input.",
            "If the input is larger than the state, the input is the new state. If not, nothing changes.",
            "Python has a function that gives the larger one of two numbers.",
        ),
        why="A state of one number is enough, however long the sequence is.",
    ),
    Exercise(
        number="01.2",
        asks="What is one step of the simple recurrent network?",
        judge=_judge_step,
        hints=(
            "Three vectors are added: one from the input, one from the old state, and the bias.",
            "The input is multiplied by W, the old state by U; in PyTorch a product is written with @.",
            "The sum goes through torch.tanh.",
        ),
        why="These few operations are the whole network of 1990.",
    ),
    Exercise(
        number="01.3",
        asks="How many parameters has Elman(26, 10)?",
        judge=expect_number(
            370,
            {
                100: "That is U alone.",
                260: "That is W alone.",
                270: "That is a feed-forward layer: the recurrence is missing.",
                360: "The biases are missing.",
                380: "That counts two biases for each unit; one is enough.",
            },
        ),
        hints=(
            "There are two matrices and one vector: W, U and b.",
            "W has a row for each unit and a column for each feature; U has a row and a column for each unit.",
            "Add the 26 × 10 weights of W to those of U, then one bias for each unit.",
        ),
        why="Of these, 10² are the price of the recurrence.",
    ),
)
