"""What the plain command chooses: settings for each kind of data, and the measurements that chose them.

`elman train TASK …` and ``Task.train(rows)`` follow these rules where the user says nothing; recipes never do.
The rules are read downward: a later one has the last word. A value may be a function of the facts; the
documentation shows its docstring.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt
from typing import Any, NamedTuple

from elman.pipeline.default_facts import Facts


class Rule(NamedTuple):
    """Settings for the runs of which ``when`` is true; ``says`` tells people which these are."""

    task: str  # "": every task
    says: str
    when: Callable[[Facts], bool]
    sets: Mapping[str, Any]


def spells(facts: Facts) -> bool:
    """Whether sources are single words, with or without features; lines without blanks may be longer."""
    words = facts.mean - facts.features
    return 0 < words < 1.5 and facts.characters < 40 * facts.examples


def choose_spelling_epochs(facts: Facts) -> int:
    """60 for a thousand words and fewer, then fewer for more, but at least 12."""
    return max(12, min(60, round(60 * sqrt(1000 / max(1, facts.examples)))))


RULES: tuple[Rule, ...] = (
    Rule("seq2seq", "sources of one word", spells, {"tokens.source.kind": "chars"}),
    Rule(
        "seq2seq",
        "sources with features, `walk V;PST`",
        lambda facts: spells(facts) and facts.features,
        {"tokens.source.kind": "chars+features"},
    ),
    Rule(
        "seq2seq",
        "from one word to one word",
        lambda facts: spells(facts) and facts.target_mean < 1.5,
        {"tokens.target.kind": "chars"},
    ),
    Rule(
        "seq2seq",
        "from one word to several of at most 300, such as phonemes",
        lambda facts: spells(facts) and facts.target_mean >= 1.5 and facts.target_types <= 300,
        {"tokens.target.kind": "whitespace"},
    ),
    Rule(
        "seq2seq",
        "sources of one word",
        spells,
        {
            "model.hidden": 128,
            "model.embedding": 128,
            "model.ctc": 0.3,
            "model.metric": "edit_rate",
            "data.batch_tokens": 512,
            "training.epochs": choose_spelling_epochs,
            "training.patience": 0,
        },
    ),
    Rule(
        "seq2seq",
        "from one word to one of mostly the same letters",
        lambda facts: spells(facts) and facts.target_mean < 1.5 and facts.shared >= 0.5,
        {"model.copying": True, "model.label_smoothing": 0.0},
    ),
    Rule(
        "seq2seq",
        "500 sources of one word and more",
        lambda facts: spells(facts) and facts.examples >= 500 and facts.objective == "likelihood",
        {"model.members": 3},
    ),
    # Evaluations at the ends of epochs would be none in a large corpus, and most of the time in a small one.
    # Half of a run without a better one is enough: before that, a schedule may still come to its best part.
    Rule(
        "",
        "`--minutes` without `--epochs`",
        lambda facts: facts.timed,
        {"training.evaluation_share": 0.1, "training.patience": 20},
    ),
    # With 0 epochs the minutes alone end a run, and the schedule comes to its end with them. This stands last.
    Rule("", "`--minutes` without `--epochs`", lambda facts: facts.timed, {"training.epochs": 0}),
)
