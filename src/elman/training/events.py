"""What ``fit`` yields. An update is followed by its evaluation, if one is due, and a checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from elman.training.batches import StopReason
from elman.training.snapshot import Snapshot


@dataclass(frozen=True)
class Update:
    """The weights were changed for the ``number``-th time."""

    number: int
    epoch: int  # from 1
    progress: float  # share of the run that is done, 0 to 1
    loss: float  # mean over the update's batches
    lr: float
    norm: float  # of the gradient, before clipping
    weight: float  # examples or tokens the loss is the mean of


@dataclass(frozen=True)
class Evaluation:
    """The net was evaluated; while this event is looked at, it holds the weights that were evaluated."""

    number: int
    scores: dict[str, float]
    metric: str  # the score that counts
    best: bool  # better than all before


@dataclass(frozen=True)
class Checkpoint:
    """A point at which the run can be left, and taken up again from ``snapshot()``.

    The snapshot is to be taken while the event is looked at, not later, and of several processes by all.
    """

    number: int
    due: bool  # after an evaluation, after so many minutes, before an error
    snapshot: Callable[[], Snapshot]


@dataclass(frozen=True)
class TrainingEnd:
    """Training is over; the net holds the weights to deliver, whose scores these are."""

    number: int
    reason: StopReason
    scores: dict[str, float]  # empty if nothing was evaluated
    failure: str = ""  # what ended a run that was not over; its weights are those of the best evaluation
    best_update: int = -1  # after which these weights were evaluated; 0: the run began with them


Event = Update | Evaluation | Checkpoint | TrainingEnd
