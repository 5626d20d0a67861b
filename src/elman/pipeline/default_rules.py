"""What the plain command chooses: settings for each kind of data, and the measurements that chose them.

`elman train TASK …` and ``Task.train(rows)`` follow these rules where the user says nothing; recipes never do.
The rules are read downward: a later one has the last word. A value may be a function of the facts; the
documentation shows its docstring.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from elman.pipeline.default_facts import Facts
from elman.tasks.registry import TASKS


class Rule(NamedTuple):
    """Settings for the runs of which ``when`` is true; ``says`` tells people which these are."""

    task: str  # "": every task
    says: str
    when: Callable[[Facts], bool]
    sets: Mapping[str, Any]


def lower_rate(facts: Facts) -> float:
    """a quarter of the task's usual rate"""
    return _usual_rate(facts) / 4


def low_rate(facts: Facts) -> float:
    """a tenth of the task's usual rate"""
    return _usual_rate(facts) / 10


def _usual_rate(facts: Facts) -> float:
    return float(TASKS[facts.task].load().defaults.training["lr"])


RULES: tuple[Rule, ...] = (
    # Evaluations at the ends of epochs would be none in a large corpus, and most of the time in a small one.
    # Half of a run without a better one is enough: before that, a schedule may still come to its best part.
    Rule(
        "",
        "`--minutes` without `--epochs`",
        lambda facts: facts.timed,
        {"training.evaluation_share": 0.1, "training.patience": 20},
    ),
    # A model that is trained on begins where the rate of training from nothing would undo what it knows.
    Rule("", "`--init`", lambda facts: facts.trained, {"training.lr": lower_rate, "training.warmup": 0.1}),
    # What a model writes itself is noisy to learn from: small steps, and some likelihood to hold on to.
    Rule(
        "",
        "`--init` with an objective",
        lambda facts: facts.trained and facts.objective != "likelihood",
        {"training.lr": low_rate, "training.grad_clip": 0.5},
    ),
    Rule(
        "",
        "objective risk or reinforce",
        lambda facts: facts.objective in ("risk", "reinforce"),
        {"objective.likelihood": 0.1},
    ),
    # With 0 epochs the minutes alone end a run, and the schedule comes to its end with them. This stands last.
    Rule("", "`--minutes` without `--epochs`", lambda facts: facts.timed, {"training.epochs": 0}),
)
