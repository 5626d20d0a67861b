"""The exercises of notebook 12: exposure bias and its remedies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from elman.course.exercise import Exercise
from elman.course.judges import expect_number
from elman.shapes import Float, Tensor


def _judge_risk(risk: Callable[..., Any]) -> str | None:
    log_probs, costs, alpha = torch.tensor([-1.0, -2.0, -4.0]), torch.tensor([0.5, 0.0, 1.0]), 0.5
    value = torch.as_tensor(risk(log_probs, costs, alpha), dtype=torch.float)
    if value.numel() != 1:
        return "The risk is one number: the sum over all candidates."
    for wrong, said in _wrong_risks(log_probs, costs, alpha):
        if torch.allclose(value, wrong, atol=1e-4):
            return said
    right = ((alpha * log_probs).softmax(0) * costs).sum()
    return None if torch.allclose(value, right, atol=1e-4) else "The number is not right for three candidates."


def _wrong_risks(
    log_probs: Float[Tensor, " n"], costs: Float[Tensor, " n"], alpha: float
) -> list[tuple[Tensor, str]]:
    powers = (alpha * log_probs).exp()
    return [
        ((powers * costs).sum(), "Q must have the sum 1 over the candidates: divide by the sum of the powers."),
        ((log_probs.softmax(0) * costs).sum(), "alpha is not used: P is raised to the power alpha."),
        (costs.mean(), "Candidates are weighed by Q, not all alike."),
        ((alpha * log_probs.exp() * costs).sum(), "alpha is an exponent, not a factor."),
        ((powers * costs).mean(), "Q must have the sum 1 over the candidates, and the risk is a sum."),
    ]


def _judge_more_probable(answer: Any) -> str | None:
    if not isinstance(answer, list | tuple | set | str):
        return "The answer is a list of letters."
    given = {str(letter).strip().upper() for letter in answer}
    if "B" in given:
        return "B costs more than the greedy output: it becomes less probable."
    if "C" in given:
        return "C is exactly as good as the baseline: its weight is 0."
    return None if given == {"A"} else "One of the three samples is better than the greedy output."


EXERCISES = (
    Exercise(
        number="12.1",
        asks="How many training items does the pair give?",
        judge=expect_number(
            11,
            {
                10: "One more: the model must also learn to stop.",
                12: "The first input is no item: nothing has to be predicted before it.",
                2: "Tokens are letters here, not words.",
                1: "Each token of the target is an item of its own.",
            },
        ),
        hints=(
            "Each token that has to be predicted is an item.",
            "Count the letters of the German word. What is predicted after the last letter?",
        ),
        why="T letters and the end token, each after the right beginning.",
    ),
    Exercise(
        number="12.2",
        asks="How probable is it that all 25 letters are right?",
        judge=expect_number(
            0.98**25,
            {
                0.5: "Probabilities of mistakes do not simply add up: multiply those of right letters.",
                0.98: "That is one letter; 25 have to be right.",
                1 - 0.98**25: "That is the probability of at least one mistake.",
            },
            tolerance=0.006,
        ),
        hints=(
            "The first letter is right with 0.98. The first two are right with 0.98 · 0.98.",
            "It is a power, with the number of letters as exponent.",
        ),
        why="Small mistakes of a step become large ones of a sequence.",
    ),
    Exercise(
        number="12.3",
        asks="Write the risk of some candidates.",
        judge=_judge_risk,
        hints=(
            "First Q, then the sum of Q times cost.",
            "The power P^alpha is exp(alpha · log P). What does a softmax do with exponentials?",
            "Compute (alpha * log_probs).softmax(0), multiply by the costs and sum.",
        ),
        why="The gradient makes candidates that cost less than the average more probable.",
    ),
    Exercise(
        number="12.4",
        asks="Which samples become more probable?",
        judge=_judge_more_probable,
        hints=(
            "The reward is minus the cost. Compare each sample with the greedy output.",
            "A sample is weighed by its reward minus that of the baseline.",
        ),
        why="Only a sample that beats the baseline is reinforced.",
    ),
)
