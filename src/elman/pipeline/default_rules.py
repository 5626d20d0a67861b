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
    """Whether single words, with or without features, become single words or symbols such as phonemes."""
    writes = facts.target_mean < 1.5 or facts.target_types <= 300
    return 0 < facts.mean - facts.features < 1.5 and facts.characters < 40 * facts.examples and writes


def spells_little(facts: Facts) -> bool:
    """The same for at most 20,000 pairs."""
    return spells(facts) and facts.examples <= 20_000


def spells_in_order(facts: Facts) -> bool:
    """The same where CTC has room: at most three symbols are to be written for two letters."""
    written = facts.target_characters if facts.target_mean < 1.5 else facts.target_words
    return spells_little(facts) and 2 * written <= 3 * facts.characters


def translates_little(facts: Facts) -> bool:
    """Whether sentences in subwords, a million words at most, are learnt on a CPU."""
    pieces = {facts.kind, facts.target_kind} <= {"bpe", "unigram"}
    return not spells(facts) and pieces and facts.device == "cpu" and _pair_words(facts) <= 1_000_000


def choose_spelling_epochs(facts: Facts) -> int:
    """60 for a thousand pairs and fewer, 35 for three thousand, 19 for ten thousand."""
    return min(60, round(60 * sqrt(1000 / max(1, facts.examples))))


def choose_sentence_epochs(facts: Facts) -> int:
    """As many as read two and a half million words, but between 6 and 20."""
    return max(6, min(20, 2_500_000 // max(1, _pair_words(facts))))


def choose_pieces(facts: Facts) -> int:
    """One for each 40 words of each side, between 1,000 and 8,000."""
    return max(1000, min(8000, _pair_words(facts) // 80))


def _pair_words(facts: Facts) -> int:
    return facts.words + facts.target_words


# Judged on validation parts: 1,500 words of CMUdict's dev set, forms of EWT's dev set (lemma, UPOS and features
# to form), 1,000 held-out pairs of Tatoeba; seed 0, share of exact answers or BLEU; ranking in a beam of 8.
SEQ2SEQ = (
    # Letters are what such words have in common; subwords of a few thousand words are mostly seen once.
    Rule("seq2seq", "single words to words or phonemes", spells, {"tokens.source.kind": "chars"}),
    Rule(
        "seq2seq",
        "the same with features, `walk V;PST`",
        lambda facts: spells(facts) and facts.features,
        {"tokens.source.kind": "chars+features"},
    ),
    Rule(
        "seq2seq",
        "single words to single words",
        lambda facts: spells(facts) and facts.target_mean < 1.5,
        {"tokens.target.kind": "chars"},
    ),
    Rule(
        "seq2seq",
        "single words to several of at most 300, such as phonemes",
        lambda facts: spells(facts) and facts.target_mean >= 1.5,
        {"tokens.target.kind": "whitespace"},
    ),
    # 3,600 words of CMUdict, 40 epochs: 49.9 (Phonetisaurus 44.5); in about the same time three networks of one
    # layer have 47.7. 1,000 forms of EWT, 60 epochs: 89.8; 40 epochs of one layer 86.4, of 96 units with
    # dropout 0.5 77.9.
    Rule(
        "seq2seq",
        "single words, at most 20,000",
        spells_little,
        {
            "model.hidden": 128,
            "model.embedding": 128,
            "model.metric": "edit_rate",
            "data.batch_tokens": 512,
            "training.epochs": choose_spelling_epochs,
            "training.patience": 0,
        },
    ),
    # With CTC 3,600 words of CMUdict go from 49.9 to 50.4, ranked by it, too, to 50.6; 10,000 words have 59.2
    # (Phonetisaurus 54.1).
    Rule(
        "seq2seq", "the same, no longer than 3:2", spells_in_order, {"model.ctc": 0.3, "model.ctc_ranking": 0.2}
    ),
    # 1,000 forms of EWT: 90.1, ranked with weight 0.2 90.7, with 0.5 91.1; of 5,000 forms 93.7 and 93.5.
    Rule(
        "seq2seq",
        "the same, at most 2,000",
        lambda facts: spells_in_order(facts) and facts.examples <= 2000,
        {"model.ctc_ranking": 0.5},
    ),
    # 1,000 forms of EWT, edits per 100 letters: 3.1 without, 2.5 with copying and CTC. 5,000 forms with CTC,
    # exact: 93.4 without copying, 93.5 with it.
    Rule(
        "seq2seq",
        "single words to words of which half the letters are theirs",
        lambda facts: spells_little(facts) and facts.target_mean < 1.5 and facts.shared >= 0.5,
        {"model.copying": True, "model.label_smoothing": 0.0},
    ),
    # 20,000 pairs of Tatoeba, five minutes: BLEU 25.9; 128 units 24.2; two layers of 256 units and 8,000
    # subwords, of which one epoch takes two minutes, 3.5.
    Rule(
        "seq2seq",
        "sentences on a CPU, at most a million words",
        translates_little,
        {
            "tokens.source.size": choose_pieces,
            "tokens.target.size": choose_pieces,
            "model.hidden": 192,
            "model.embedding": 128,
            "data.batch_tokens": 1024,
            "training.epochs": choose_sentence_epochs,
        },
    ),
    Rule("seq2seq", "the same", translates_little, {"model.layers": 1}),
)

RULES: tuple[Rule, ...] = (
    *SEQ2SEQ,
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
