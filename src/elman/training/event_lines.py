"""What happened in a run, each event in one line for people."""

from __future__ import annotations

from elman.number_format import format_clock, format_number, format_scores
from elman.training.events import Evaluation, TrainingEnd, Update
from elman.training.pace import Pace


def describe_update(event: Update, pace: Pace, unit: str, metric: str = "") -> str:
    """What is known at an update."""
    loss = format_number(event.loss)
    parts = [f"epoch {event.epoch:,}  update {event.number:,}  loss {loss}", metric]
    if speed := pace.speed:
        parts.append(f"{speed:,.0f} {unit}/s")
    if round(pace.left):
        parts.append(f"{format_clock(pace.left)} left")
    return "  ".join(part for part in parts if part)


def describe_evaluation(event: Evaluation) -> str:
    """The scores of an evaluation, and whether they are the best so far."""
    return f"update {event.number:,}  {_scores(event)}{'  (best)' if event.best else ''}"


def describe_end(event: TrainingEnd) -> str:
    """Why a run ended, and its best scores."""
    scores = _scores(event)
    done = {name: f"all {name} done" for name in ("epochs", "updates")}
    why = {**done, "minutes": "the time is up", "patience": "early stopping", "failure": "the run failed"}
    best = "; best: " if event.best_update else "; nothing is better than the model it began with: "
    return f"{why[event.reason]} after update {event.number:,}{best if scores else ''}{scores}"


def _scores(event: Evaluation | TrainingEnd) -> str:
    return format_scores(event.scores, between="  ")
