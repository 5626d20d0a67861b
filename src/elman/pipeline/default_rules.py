"""What the plain command chooses: settings for each kind of data, and the measurements that chose them.

`elman train TASK …` and ``Task.train(rows)`` follow these rules where the user says nothing; recipes never do.
The rules are read downward: a later one has the last word. A value may be a function of the facts; the
documentation shows its docstring.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from elman.pipeline.default_facts import Facts
from elman.pipeline.lm_choices import (
    choose_char_dropout,
    choose_eval_tokens,
    choose_lm_dropout,
    choose_lm_embedding,
    choose_lm_epochs,
    choose_lm_units,
    choose_ngram_least,
    learns_text,
    learns_words,
)


class Rule(NamedTuple):
    """Settings for the runs of which ``when`` is true; ``says`` tells people which these are."""

    task: str  # "": every task
    says: str
    when: Callable[[Facts], bool]
    sets: Mapping[str, Any]


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
            "model.layers": 1,
            "model.hidden": choose_lm_units,
            "model.embedding": choose_lm_embedding,
            "model.dropout": choose_lm_dropout,
            "model.input_dropout": 0.0,
            "training.lr": 0.016,
            "training.epochs": choose_lm_epochs,
        },
    ),
    Rule(
        "lm",
        "a text of 50,000 words or more, on a CPU",
        lambda facts: learns_words(facts) and facts.device == "cpu",
        {"model.softmax_samples": 512, "model.frequency_bias": True},
    ),
    Rule(
        "lm",
        "a text of 50,000 characters or more, on a CPU",
        lambda facts: learns_text(facts) and facts.reads_characters and facts.device == "cpu",
        {
            "data.streams": 16,
            "data.bptt": 64,
            "model.layers": 1,
            "model.hidden": choose_lm_units,
            "model.embedding": 64,
            "model.tied": False,
            "model.dropout": choose_char_dropout,
            "model.input_dropout": 0.0,
            "training.lr": 0.006,
            "training.epochs": choose_lm_epochs,
        },
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
