"""Exercises of notebook 06: perplexity, temperature, top-p, weight tying."""

from __future__ import annotations

import math
from typing import Any

import torch

from elman.course.exercise import Exercise
from elman.course.judges import differs, expect_number
from elman.number_format import format_number
from elman.shapes import Tensor


def _judge_perplexity(answer: Any) -> str | None:
    chances = (0.5, 0.125, 0.25)
    given, right = float(answer([math.log(p) for p in chances])), 4.0
    mistakes = {
        64.0: "This is 1 / P of the whole text: it grows with the length. Divide by the number of tokens.",
        math.log(4): "This is the mean loss in nats; perplexity is its exponential.",
        2.0: "This is the mean in bits; perplexity is the exponential of the mean loss.",
        0.25: "This is below 1: the sign is wrong. Logarithms of probabilities are negative.",
        sum(1 / p for p in chances) / 3: "The mean is taken of 1 / p. Take the mean of the logarithms first.",
    }
    if not math.isclose(given, right, rel_tol=1e-6):
        near = (said for wrong, said in mistakes.items() if math.isclose(given, wrong, rel_tol=1e-6))
        return next(
            near, f"For the probabilities 1/2, 1/8 and 1/4 it should be 4, and it is {format_number(given)}."
        )
    longer = float(answer([math.log(0.1)] * 5))
    return (
        None
        if math.isclose(longer, 10, rel_tol=1e-6)
        else f"Five times 1/10 gives {format_number(longer)}, not 10."
    )


def _judge_temperature(answer: Any) -> str | None:
    logits, temperature = torch.tensor([2.0, 0.0, -1.0]), 0.5
    given = answer(logits, temperature)
    mistake = differs(given, (logits / temperature).softmax(-1))
    if mistake is None or not isinstance(given, Tensor) or given.shape != logits.shape:
        return mistake
    if not math.isclose(float(given.sum()), 1.0, abs_tol=1e-4):
        return "The probabilities do not sum to one."
    if torch.allclose(given, (logits * temperature).softmax(-1)):
        return "At temperature 0.5 the words have become more alike; they should become less alike."
    if torch.allclose(given, logits.softmax(-1)):
        return "The temperature changes nothing. A number by which probabilities are divided cancels out."
    return mistake


def _keep_top_p(probabilities: Tensor, p: float) -> Tensor:
    """The fewest likeliest of sorted or unsorted probabilities that reach p, made to sum to one."""
    ordered, places = probabilities.sort(descending=True)
    before = ordered.cumsum(-1) - ordered
    kept = torch.zeros_like(probabilities).scatter(0, places, ordered * (before < p))
    return kept / kept.sum()


def _judge_top_p(answer: Any) -> str | None:
    chances, p = torch.tensor([0.1, 0.4, 0.05, 0.3, 0.15]), 0.6
    given, right = answer(chances, p), _keep_top_p(chances, p)
    mistake = differs(given, right)
    if mistake is None:
        return differs(answer(chances, 0.95), _keep_top_p(chances, 0.95))
    if not isinstance(given, Tensor) or given.shape != right.shape:
        return mistake
    kept = (given > 0).tolist()
    if kept == [False, True, False, False, False]:
        return "One word too few: the word that reaches p is kept, too."
    if kept == [c > 0 for c in right.tolist()]:
        return "The right words are kept, but the probabilities do not sum to one in the right proportion."
    if torch.allclose(given.sort().values, right.sort().values):
        return "The values are right, but at other words: put each back in its place."
    return "Other words are kept than the most probable ones that reach p together."


EXERCISES = (
    Exercise(
        number="06.1",
        asks="Return the perplexity, given the logarithms of the probabilities of all tokens.",
        judge=_judge_perplexity,
        hints=(
            "Three steps: mean, minus, exponential.",
            "The sum of the logarithms, divided by how many there are; then `math.exp` of minus that.",
        ),
        why="It is the number of words among which the model hesitates.",
    ),
    Exercise(
        number="06.2",
        asks="Return the probabilities at a temperature.",
        judge=_judge_temperature,
        hints=(
            "The temperature acts on the logits, before the softmax.",
            "A small temperature must make the differences between logits larger.",
        ),
        why="At temperature 1 nothing changes; towards 0 it becomes the greedy choice.",
    ),
    Exercise(
        number="06.3",
        asks="Keep the fewest most probable words whose probabilities reach p together.",
        judge=_judge_top_p,
        hints=(
            "`probabilities.sort(descending=True)` gives the sorted values and where each stood.",
            "A word is kept if the sum of all words *before* it (in that order) is still below p.",
            "`torch.zeros_like(probabilities)`, then fill in the kept places; divide by the sum at the end.",
        ),
        why="Where the model is certain, few words are left; where it is not, many.",
    ),
    Exercise(
        number="06.4",
        asks="How many parameters does weight tying save with 33,000 words of 400 features?",
        judge=expect_number(
            33_000 * 400,
            {
                2 * 33_000 * 400: "These are both matrices together; tying leaves one of them.",
                400 * 400: "The saved matrix has a row for each word.",
                33_000: "Each word has a whole row of features.",
            },
        ),
        hints=(
            "Of two matrices of the same shape, one is left.",
            "The matrix has a row for each word and a column for each feature.",
        ),
        why="More than the recurrent layers of most models: tying is worth it.",
    ),
)
