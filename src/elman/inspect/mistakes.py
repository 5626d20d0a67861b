"""The wrong answers of a model, the surest first, and the tokens that each of them rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from elman.inspect.saliency import batch_gradient_x_input, visible_token
from elman.state import eval_mode
from elman.tasks.base import Task
from elman.tasks.judgement import Judgement, Mistake

EXPLAINED = 2_000  # mistakes that are explained at most
TOGETHER = 32  # mistakes that are explained at once
TOKENS = 5  # that are named as reasons


@dataclass(frozen=True)
class ExplainedMistake:
    """A wrong answer: its ``record``, and the tokens that weighed most for it or against it, in nats.

    None: it was not explained.
    """

    record: dict[str, Any]
    why: tuple[tuple[str, float], ...] | None


def explain_mistakes(model: Task, judgement: Judgement, *, most: int = EXPLAINED) -> list[ExplainedMistake]:
    """All mistakes, the surest or worst first; the first ``most`` of them explained.

    The weights are gradient × input of log p(answer) - log p(right answer): above zero, a token spoke for the
    wrong answer.
    """
    mistakes = judgement.find_mistakes()
    possible = [i for i, mistake in enumerate(mistakes[:most]) if mistake.about is not None]
    possible.sort(key=lambda i: judgement.tokens[mistakes[i].example])  # like lengths together
    reasons: dict[int, tuple[tuple[str, float], ...]] = {}
    with eval_mode(model.net):
        for start in range(0, len(possible) if judgement.trace else 0, TOGETHER):
            some = possible[start : start + TOGETHER]
            reasons |= zip(some, _reasons(judgement, [mistakes[i] for i in some]), strict=True)
    return [ExplainedMistake(dict(m.record), reasons.get(i)) for i, m in enumerate(mistakes)]


def _reasons(judgement: Judgement, mistakes: Sequence[Mistake]) -> list[tuple[tuple[str, float], ...]]:
    assert judgement.trace is not None
    tokens, embedding, margins, split = judgement.trace(mistakes)
    shares = split(batch_gradient_x_input(embedding, margins))
    return [_heaviest(some, weights) for some, weights in zip(tokens, shares, strict=True)]


def _heaviest(tokens: Sequence[str], weights: Any) -> tuple[tuple[str, float], ...]:
    order = np.argsort(-np.abs(weights), kind="stable")[:TOKENS].tolist()
    return tuple((visible_token(tokens[i]), float(weights[i])) for i in order)
