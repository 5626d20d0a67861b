"""How far a training run has come, and whether that is its end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from elman.training.schedules import waited
from elman.training.settings import Settings

Reason = Literal["epochs", "updates", "minutes", "patience"]


@dataclass(frozen=True)
class Position:
    """All of a run's state that is no tensor. It stands between two updates."""

    update: int = 0  # updates done
    epoch: int = 0  # epochs done
    batch: int = 0  # batches done of the epoch begun
    seconds: float = 0.0  # of training and evaluation
    merits: tuple[float, ...] = ()  # the metric that counts, of each evaluation; higher is better
    scores: dict[str, float] = field(default_factory=dict)  # of the best evaluation


def ending(settings: Settings, position: Position) -> Reason | None:
    """Why training is over, or None while it is not."""
    if settings.updates and position.update >= settings.updates:
        return "updates"
    if not settings.updates and position.epoch >= settings.epochs:
        return "epochs"
    if settings.patience and waited(position.merits) >= settings.patience:
        return "patience"
    if settings.minutes and position.seconds >= 60 * settings.minutes:
        return "minutes"
    return None
