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
    # 900,000 words of WikiText-2, 10,000 of them known, one busy core; perplexity of validation text by the
    # network alone / with n-grams. One minute: 2 × 200 units 151 / 113 (557 updates; lr 0.008: 171 / 119), 1
    # × 300 124 / 102; in 48 s of CPU 1 × 256 114 / 97, 2 × 128 118 / 99. Three minutes: 2 × 300, lr 0.008 109
    # / 95; 2 × 200 88 / 81; 1 × 300 78 / 74. A plain nn.LSTM script: 390 and 257; Kneser-Ney 5-grams: 137.
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
    # An update of 2 × 200 units with 10,000 words takes 56 ms, with 1,024 samples 71, with all words 190. In
    # a minute 512 samples came to 146, 1,024 to 151, all words to 224; adaptive softmax in three minutes to
    # 140, where samples had 88. Without the frequencies all words came to 317, with them to 288 (lr 0.004).
    Rule(
        "lm",
        "a text of 50,000 words or more, on a CPU",
        lambda facts: learns_words(facts) and facts.device == "cpu",
        {"model.softmax_samples": 512, "model.frequency_bias": True},
    ),
    # 950,000 characters of tiny Shakespeare, one busy core, one minute, nats: 2 × 256 units tied, 32 streams
    # (the plain defaults) 1.91; 1 × 384, 32 streams 1.78; 2 × 200, 16 streams 1.70; 1 × 256, 16 streams 1.66.
    # A plain nn.LSTM script: 1.99.
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
    # They cost 1 s and 40 MB a million words, and pay at every budget that was measured: 151 -> 113 after a
    # minute, 78 -> 74 after three. Those that occur twice take a fifth of the memory: 140 instead of 137 by
    # themselves.
    Rule(
        "lm",
        "a text of 50,000 to 50 million words",
        lambda facts: learns_words(facts) and facts.tokens <= 50_000_000,
        {"model.ngrams": 5, "model.ngram_least": choose_ngram_least},
    ),
    # To read the 217,000 tokens of a validation text takes 10 s: much of a minute, and a schedule that falls
    # to zero has its best weights at the end.
    Rule(
        "lm",
        "`--minutes` without `--epochs`",
        lambda facts: facts.timed,
        {"training.evaluation_share": 0.05, "data.eval_tokens": choose_eval_tokens},
    ),
    # With 0 epochs the minutes alone end a run, and the schedule comes to its end with them. This stands
    # last.
    Rule("", "`--minutes` without `--epochs`", lambda facts: facts.timed, {"training.epochs": 0}),
)
