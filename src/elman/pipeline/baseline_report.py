"""The obvious baseline at the end of a run: judged in a tenth of its time, said in a line and kept."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from elman.errors import ElmanError
from elman.number_format import format_duration, format_score
from elman.pipeline.recipe import Recipe
from elman.tasks.base import Task

_SHARE = 0.1  # of the time of the run that the baseline may take
_LEAST = 5.0  # seconds that it may take in any case


class JudgedBaseline(NamedTuple):
    """A baseline beside the model, by the model's own metric."""

    name: str
    seconds: float
    scores: Mapping[str, float]
    metric: str
    model: float  # what the model scores
    wins: bool

    def describe(self) -> str:
        """Both scores in a line: ``baseline (bag of n-grams, 1.2 s): accuracy 89.20   this model: 92.40``."""
        score, other = (format_score(self.metric, value) for value in (self.scores[self.metric], self.model))
        what = f"{self.name}, {format_duration(self.seconds)}"
        return f"baseline ({what}): {self.metric} {score}   this model: {other}"


def judge_baseline(
    recipe: Recipe, model: Task, training: Any, valid: Any, scores: Mapping[str, float], took: float
) -> JudgedBaseline | None:
    """The better of the task's simple models; None where there is none, or nothing to judge it by.

    ``scores`` are those of the model. Whatever goes wrong is said, but it is no failure of the run.
    """
    if not recipe.training.baseline or not valid or model.metric not in scores:
        return None
    began = time.monotonic()
    try:
        found = model.baseline(training, valid, max(_LEAST, _SHARE * took))
        own, theirs = scores[model.metric], found.scores[model.metric]
    except ElmanError as error:
        _say(f"no baseline: {error}")
        return None
    except Exception as error:  # the model is trained: nothing here may lose it
        _say(f"no baseline: {type(error).__name__}: {error}")
        return None
    wins = theirs > own if model.best == "max" else theirs < own
    seconds = max(0.1, round(time.monotonic() - began + found.seconds, 1))
    return JudgedBaseline(found.name, seconds, found.scores, model.metric, own, wins)


def say_baseline(judged: JudgedBaseline, recipe: Recipe) -> None:
    """The line on stderr; where the baseline is better, that too, and what to try."""
    _say(judged.describe())
    if judged.wins:
        _say(f"the baseline is better than this model; try {_list_remedies(recipe)}")


def _list_remedies(recipe: Recipe) -> str:
    remedies = ["more --minutes or --epochs", f"elman tune {recipe.task}"]
    if recipe.pretraining is not None and not recipe.data.unlabelled:
        remedies.append("text without labels (--unlabelled FILE)")
    return f"{', '.join(remedies)}, or more data"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
