"""How long the trainings of a search are, and by how many parts of the data each is judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from elman.number_format import format_duration
from elman.pipeline.default_facts import Facts

SHARE = 15  # of the search, the longest training may have one in so many parts,
SHORT, FEWEST = 0.5, 5  # but so many minutes, if so many of them find room
REDUCTION = 3  # of so many trials one goes on, with a training so many times as long
SHORTEST = 10.0  # seconds that a training needs at least to tell anything
LAST = 2.3  # longest trainings that the one on all data takes: it is trained on most of them first
LAST_SHARE = 0.3  # of the search, the most that this one may take
PACE = 12_000  # words a second that the plain choice reads on one core, more or less
FOLDS, FEW, ROOM = 3, 100_000, 20.0  # folds of so few words, where the jobs have so many minutes in all


@dataclass(frozen=True)
class SearchRequest:
    """What a user asks for."""

    data: Mapping[str, Any]  # of a recipe, as far as it is given
    minutes: float  # of the search
    jobs: int  # trainings at a time
    folds: int = 0
    trials: int = 0  # the most; 0: as many as the minutes allow
    device: str = "cpu"

    @property
    def holds_out(self) -> bool:
        """Whether a part of the training data judges the trials."""
        return not (self.folds or self.data.get("data", {}).get("valid"))


class Rung(NamedTuple):
    """How long a training is."""

    minutes: float  # at most
    epochs: int = 0  # 0: as many as the minutes allow, or as the user says

    def describe(self) -> str:
        if self.epochs:
            return f"{self.epochs} epoch{'s' * (self.epochs > 1)}"
        return format_duration(60 * self.minutes)


def choose_longest(request: SearchRequest) -> float:
    """The minutes that the longest trainings may take."""
    total = request.minutes * request.jobs / max(1, request.folds)
    longest = max(total / SHARE, min(SHORT, total / FEWEST))
    return min(longest, request.minutes * LAST_SHARE / LAST) if request.holds_out else longest


def plan_rungs(longest: float, epochs: int = 0) -> tuple[Rung, ...]:
    """A ninth of the longest training, a third and all of it, as far as that tells anything."""
    if epochs:
        counts = [round(epochs / part) for part in (REDUCTION**2, REDUCTION) if epochs >= part]
        shorter = [Rung(longest * count / epochs, count) for count in counts]
    else:
        shorter = [Rung(longest / part) for part in (REDUCTION**2, REDUCTION)]
    return (*(rung for rung in shorter if 60 * rung.minutes >= SHORTEST), Rung(longest, epochs))


def is_given(request: SearchRequest) -> bool:
    """Whether the user says how long a training is."""
    return bool({"epochs", "updates", "minutes"} & {*request.data.get("training", {})})


def has_room(facts: Facts, epochs: int, longest: float) -> bool:
    """Whether so many epochs have room in the longest training, or nearly."""
    return not facts.running and facts.words * epochs <= PACE * 60 * longest * 2


def needs_folds(facts: Facts, request: SearchRequest) -> bool:
    """Whether what is held out would be too little to judge by, and folds have time enough."""
    said = "holdout" in request.data.get("data", {})
    few = facts.words <= FEW and request.minutes * request.jobs >= ROOM
    return request.holds_out and not said and few and not facts.running
