"""The exercises of notebook 10: attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from elman.course.exercise import Exercise
from elman.course.judges import differs, expect_word


def _judge_attention(attend: Callable[..., Any]) -> str | None:
    query, states = torch.randn(4), torch.randn(3, 4)
    answer = attend(query, states)
    if not isinstance(answer, list | tuple) or len(answer) != 2:
        return "Return two tensors: the weights and the context."
    weights, context = answer
    scores = states @ query
    right = scores.softmax(0)
    if differs(weights, scores) is None:
        return "These are the scores; the weights are positive and have the sum 1."
    if isinstance(weights, torch.Tensor) and weights.shape == context.shape[:1] == query.shape:
        return "The first tensor has a number for each unit; weights are numbers for each source word."
    for name, given, wanted in (("weights", weights, right), ("context", context, right @ states)):
        mistake = differs(given, wanted)
        if mistake is not None:
            return f"The {name}: {mistake}"
    return None


def _judge_shape(answer: Any) -> str | None:
    if not isinstance(answer, list | tuple | torch.Size) or len(answer) != 2:
        return "The answer is a pair of numbers: (rows, columns)."
    rows, columns = map(int, answer)
    mistakes = {
        (48, 20): "The encoder reads in two directions, and both stand side by side in a state.",
        (40, 48): "The other way round: the state of the decoder stands on the left of the matrix.",
        (20, 48): "The other way round; and the encoder has two directions.",
        (48, 48): "The two sizes differ: that is why there is a matrix.",
    }
    if (rows, columns) == (48, 40):
        return None
    return mistakes.get((rows, columns), "The sizes are those of a state of the decoder and of the encoder.")


EXERCISES = (
    Exercise(
        number="10.1",
        asks="Write dot-product attention: weights and context.",
        judge=_judge_attention,
        hints=(
            "Three lines: the scores, the weights, the context.",
            "With states of shape (S, H), the product states @ query has S scores.",
            "A softmax over the S scores gives the weights; weights @ states is the weighted sum.",
        ),
        why="Scores, softmax, weighted sum: that is all of attention.",
    ),
    Exercise(
        number="10.2",
        asks="Which summary is the context when all scores are equal?",
        judge=expect_word(
            "mean",
            {
                "last": "The last state would have the weight 1, and all others 0.",
                "sum": "The weights have the sum 1, so they cannot all be 1.",
                "maximum": "The context is a weighted sum; nothing is chosen unit by unit.",
            },
        ),
        hints=(
            "What does a softmax make of S equal numbers?",
            "Each weight is 1/S. Put that into the formula of c.",
        ),
        why="Attention without any preference is mean pooling.",
    ),
    Exercise(
        number="10.3",
        asks="What is the shape of W_s?",
        judge=_judge_shape,
        hints=(
            "In h_d W_s h_e, the rows of W_s meet the decoder and the columns meet the encoder.",
            "How long is one state of a bidirectional encoder?",
        ),
        why="The matrix joins any two sizes.",
    ),
)
