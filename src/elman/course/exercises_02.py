"""Exercises of notebook 02, gradients through time."""

from __future__ import annotations

from typing import Any

import torch

from elman.course.exercise import Exercise
from elman.course.judges import differs, expect_number, expect_word


def _judge_slope(slope: Any) -> str | None:
    """The slope of tanh as a function of its output."""
    a = torch.linspace(-2, 2, 9)
    h = torch.tanh(a)
    given = torch.stack([torch.as_tensor(slope(one)) for one in h])
    if differs(given, 1 - torch.tanh(h) ** 2) is None:
        return "Your function takes tanh once more; h is the output of tanh already."
    if differs(given, h * (1 - h)) is None:
        return "That is the slope of the sigmoid, not of tanh."
    return differs(given, 1 - h**2)


def _judge_clip(clip: Any) -> str | None:
    """Short vectors stay, long ones keep their direction."""
    short, long = torch.tensor([0.3, -0.4]), torch.tensor([3.0, -4.0])
    if differs(clip(short.clone(), 2.0), short) is not None:
        return "A vector of length 0.5 must stay as it is when the limit is 2."
    clipped = torch.as_tensor(clip(long.clone(), 2.0))
    if differs(clipped, long.clamp(-2, 2)) is None:
        return "That limits each number by itself, and so the direction changes."
    if differs(clipped, long) is None:
        return "A vector of length 5 must become shorter when the limit is 2."
    return differs(clipped, torch.tensor([1.2, -1.6]))


EXERCISES = (
    Exercise(
        number="02.1",
        asks="Which function of h = tanh(a) is the slope of tanh at a?",
        judge=_judge_slope,
        hints=(
            "Look at the picture: where h is 0 the slope is 1, where h is near 1 or −1 it is near 0.",
            "It is a polynomial in h, the same for h and −h.",
            "Subtract a power of h from 1.",
        ),
        why="The backward pass needs only the output of tanh, not its input.",
    ),
    Exercise(
        number="02.2",
        asks="Which share of the gradient is left after 50 steps, if each multiplies it by 0.9?",
        judge=expect_number(
            0.9**50,
            {
                45.0: "That is 0.9 times 50; the factors are multiplied with each other.",
                0.9**49: "That is one step too few.",
                0.9**51: "That is one step too many.",
                1 - 0.9**50: "That is the share that is lost.",
                100 * 0.9**50: "That is in percent; a share lies between 0 and 1.",
            },
            tolerance=1e-4,
        ),
        hints=(
            "After two steps 0.9 · 0.9 = 0.81 is left.",
            "After three steps it is 0.9 to the power of three.",
            "In Python a power is written with two stars.",
        ),
        why="Half a percent: with such a factor a network learns almost nothing from fifty steps back.",
    ),
    Exercise(
        number="02.3",
        asks="What does the gradient of this ReLU network do on its way back?",
        judge=expect_word(
            "explodes",
            {
                "vanishes": "That is what tanh does: its slope is below 1. An active ReLU has another slope.",
                "stays": "It would stay with the orthogonal matrix alone; here there is one more factor.",
            },
        ),
        hints=(
            "Two things happen at each step: the slope of ReLU, and the matrix.",
            "The slope of an active ReLU is 1. An orthogonal matrix keeps the length of a vector.",
            "What remains is the number that the matrix is multiplied by. Raise it to the power of 100.",
        ),
        why="Every step makes it 1.2 times longer, and 1.2 to the power of 100 is about 83 million.",
    ),
    Exercise(
        number="02.4",
        asks="How is a vector clipped to a length?",
        judge=_judge_clip,
        hints=(
            "First compute the length of the vector: gradient.norm().",
            "If the length is at most the limit, return the vector itself.",
            "Otherwise divide the vector by its length; then it is 1 long, and can be given any length.",
        ),
        why="The direction says what to learn, the length only how far to go.",
    ),
)
