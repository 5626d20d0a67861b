"""What the plain command chooses: settings for each kind of data, and the measurements that chose them.

`elman train TASK …` and ``Task.train(rows)`` follow these rules where the user says nothing; recipes never do.
The rules are read downward: a later one has the last word. A value may be a function of the facts; the
documentation shows its docstring.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from elman.pipeline.default_facts import Facts


class Rule(NamedTuple):
    """Settings for the runs of which ``when`` is true; ``says`` tells people which these are."""

    task: str  # "": every task
    says: str
    when: Callable[[Facts], bool]
    sets: Mapping[str, Any]


def learns_words(facts: Facts) -> bool:
    """Whether a text of 50,000 words or more is to be learnt from nothing; others keep the plain defaults."""
    likelihood = facts.objective == "likelihood" and not facts.trained
    return likelihood and not facts.reads_characters and facts.tokens >= 50_000


def estimate_passes(facts: Facts) -> float:
    """How often a run reads its text on the CPU: 300,000 words a minute and core (200 units)."""
    read = 300_000 * facts.minutes * facts.cores**0.7
    return read / facts.tokens if facts.timed else choose_lm_epochs(facts)


def choose_lm_epochs(facts: Facts) -> int:
    """as many as read four million words, but 2 to 10"""
    return max(2, min(10, round(4_000_000 / facts.tokens)))


def choose_lm_units(facts: Facts) -> int:
    """200; 300 where three million words are read"""
    return 300 if estimate_passes(facts) * facts.tokens >= 3_000_000 else 200


def choose_lm_dropout(facts: Facts) -> float:
    """0.1 for up to 3 passes over the text, 0.3 for up to 10, 0.5 for more"""
    passes = estimate_passes(facts)
    return 0.1 if passes <= 3 else 0.3 if passes <= 10 else 0.5


def choose_lm_rate(facts: Facts) -> float:
    """0.016 where less than a million words are read, 0.008 for more"""
    return 0.016 if estimate_passes(facts) * facts.tokens < 1_000_000 else 0.008


def choose_ngram_least(facts: Facts) -> int:
    """1; 2 for more than two million words"""
    return 1 if facts.tokens <= 2_000_000 else 2


def choose_eval_tokens(facts: Facts) -> int:
    """10,000 a minute, but 10,000 to 200,000"""
    return max(10_000, min(200_000, round(10_000 * facts.minutes)))


RULES: tuple[Rule, ...] = (
    # Evaluations at the ends of epochs would be none in a large corpus, and most of the time in a small one.
    # Half of a run without a better one is enough: before that, a schedule may still come to its best part.
    Rule(
        "",
        "`--minutes` without `--epochs`",
        lambda facts: facts.timed,
        {"training.evaluation_share": 0.1, "training.patience": 20},
    ),
    # MEASURED
    Rule(
        "lm",
        "a text of 50,000 words or more, on a CPU",
        lambda facts: learns_words(facts) and facts.device == "cpu",
        {
            "data.streams": 20,
            "data.bptt": 35,
            "model.hidden": choose_lm_units,
            "model.embedding": choose_lm_units,
            "model.dropout": choose_lm_dropout,
            "model.input_dropout": 0.0,
            "training.lr": choose_lm_rate,
            "training.epochs": choose_lm_epochs,
        },
    ),
    Rule(
        "lm",
        "a text of 50,000 words or more, on a CPU",
        lambda facts: learns_words(facts) and facts.device == "cpu",
        {"model.softmax_samples": 1024, "model.frequency_bias": True},
    ),
    Rule(
        "lm",
        "a text of 50,000 to 50 million words",
        lambda facts: learns_words(facts) and facts.tokens <= 50_000_000,
        {"model.ngrams": 5, "model.ngram_least": choose_ngram_least},
    ),
    Rule(
        "lm",
        "`--minutes` without `--epochs`",
        lambda facts: facts.timed,
        {"training.evaluation_share": 0.05, "data.eval_tokens": choose_eval_tokens},
    ),
    # With 0 epochs the minutes alone end a run, and the schedule comes to its end with them. This stands last.
    Rule("", "`--minutes` without `--epochs`", lambda facts: facts.timed, {"training.epochs": 0}),
)
