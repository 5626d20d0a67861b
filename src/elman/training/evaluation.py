"""Evaluation of a network while it trains: its scores, and which weights are the best so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import inf, isnan
from typing import Literal

import torch

from elman.errors import ModelError
from elman.interruption import Interrupted, interruptible
from elman.memory_errors import refuse_shortage
from elman.training.distributed import World
from elman.training.ema import tensors_by_name
from elman.training.events import Evaluation
from elman.training.snapshot import TrainState


@dataclass(frozen=True)
class Validation:
    """What gives a net's scores, which of them counts, and whether more of it is better or less."""

    scores: Callable[[], Mapping[str, float]]
    metric: str
    best: Literal["max", "min"] = "max"

    def merit(self, scores: Mapping[str, float]) -> float:
        """The score that counts, as a number of which the higher is the better."""
        if self.metric not in scores:
            names = ", ".join(map(repr, scores)) or "nothing"
            raise ModelError(f"{self.metric!r} is to tell the best weights, but scored is {names}")
        value = scores[self.metric]
        return -inf if isnan(value) else value if self.best == "max" else -value


def evaluate(training: TrainState, validation: Validation, world: World) -> Evaluation | None:
    """Evaluate the weights as they are, and keep them if they are the best so far; None: it was interrupted."""
    training.net.eval()
    # The others take rank 0's word: one bit of difference, and they would part ways.
    scores = world.first(None if world.rank else _scores(validation))
    if scores is None:
        return None
    merit = validation.merit(scores) if _are_finite(training) else -inf
    progress = training.progress
    best = merit > max(progress.metric_history, default=-inf)
    if best:
        training.best = {name: value.clone() for name, value in tensors_by_name(training.net).items()}
    history = (*progress.metric_history, merit)
    progress = replace(progress, metric_history=history, evaluation_due=False)
    training.progress = replace(progress, scores=scores, best_update=progress.update) if best else progress
    return Evaluation(progress.update, scores, validation.metric, best)


def _are_finite(training: TrainState) -> bool:
    """Whether the weights are numbers: those that are not may still score, and nobody could load them."""
    return all(bool(torch.isfinite(weight).all()) for weight in training.net.parameters())


def _scores(validation: Validation) -> dict[str, float] | None:
    """All scores; None if a signal came: an evaluation may take long, and the weights outlive it."""
    try:
        with interruptible(), torch.no_grad(), refuse_shortage("in an evaluation"):
            return {name: float(value) for name, value in validation.scores().items()}
    except Interrupted:
        return None
