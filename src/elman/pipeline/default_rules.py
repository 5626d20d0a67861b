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


def classifier_epochs(facts: Facts) -> int:
    """as many as read 3,000,000 words in all: 3 at least, 10 at most, 20 where there are under 1,000 texts"""
    most = 20 if facts.examples + facts.unlabelled_texts < 1000 else 10
    return max(3, min(most, round(3_000_000 / max(1, facts.words + facts.unlabelled_words))))


RULES: tuple[Rule, ...] = (
    # Held-out parts of the training data of TREC, SST-2 and ATIS, seeds 0 and 1. TREC by the options without
    # rules 83.8 % right; with n-grams 85.5, with the spelling of words, which n-grams then have, too, 87.1.
    # One cycle of ten epochs is as good as early stopping (86.2 and 86.4), and its length is known.
    Rule(
        "classifier",
        "every text",
        lambda facts: not facts.trained,
        {
            "model.ngrams": True,
            "model.pool": "attention",
            "model.label_smoothing": 0.1,
            "training.lr": 4e-3,
            "training.schedule": "one_cycle",
            "training.warmup": 0.1,
            "training.ema_decay": 0.99,
            "training.epochs": classifier_epochs,
            "training.patience": 0,
        },
    ),
    # TREC: attention 87.3, words moved for the worst by a tenth 87.3, by three tenths 84.6 (SST-2 81.0, 81.4,
    # 80.6; neither 81.3). Both cost time that long texts do not leave.
    Rule(
        "classifier",
        "texts of words, up to 1,000,000 in all",
        lambda facts: not facts.trained and not facts.reads_characters and facts.words <= 1_000_000,
        {"model.characters": "cnn", "model.casing": True, "model.adversarial": 0.1},
    ),
    Rule(
        "classifier",
        "more than 1,000,000 words, over 100 a text",
        lambda facts: not facts.trained and facts.words > 1_000_000 and facts.mean > 100,
        {"model.max_tokens": 256, "model.chunk": 64, "training.epochs": 2, "data.batch_tokens": 8192},
    ),
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
        {"objective.likelihood": 0.02},
    ),
    # With 0 epochs the minutes alone end a run, and the schedule comes to its end with them. This stands last.
    Rule("", "`--minutes` without `--epochs`", lambda facts: facts.timed, {"training.epochs": 0}),
)
