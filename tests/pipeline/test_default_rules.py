"""Where the rules for defaults begin and end, as their words say it; the page of defaults is what they are."""

import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from elman.pipeline.default_facts import Facts
from elman.pipeline.default_rules import RULES, Rule, classifier_epochs, low_rate, lower_rate
from elman.pipeline.lm_choices import (
    choose_char_dropout,
    choose_eval_tokens,
    choose_lm_dropout,
    choose_lm_embedding,
    choose_lm_epochs,
    choose_lm_units,
    choose_ngram_least,
    count_read,
    is_read_soon,
    learns_text,
)
from elman.pipeline.seq2seq_choices import (
    choose_pieces,
    choose_sentence_epochs,
    choose_spelling_epochs,
    spells,
    spells_in_order,
    spells_little,
    translates_little,
)
from elman.tasks.registry import TASKS

ROOT = Path(__file__).parents[2]


def test_the_table_of_defaults_is_that_of_the_rules():
    """`python docs/default_table.py` writes it anew."""
    written = runpy.run_path(str(ROOT / "docs/default_table.py"))
    page = (ROOT / "docs/defaults.md").read_text()
    assert written["TABLE"].search(page)[0] == written["write_table"]()


def test_a_value_that_is_computed_is_described_by_its_docstring():
    def half(facts):
        """half of the words."""

    written = runpy.run_path(str(ROOT / "docs/default_table.py"))
    rule = Rule("lm", "long | short", bool, {"model.hidden": half, "training.lr": 0.00002, "model.pool": "max"})
    (*_, row) = written["write_table"]((rule,)).splitlines()
    chosen = "`model.hidden` half of the words, `training.lr` 0.00002, `model.pool` `max`"
    assert row == f"| lm | long &#124; short | {chosen} |"


def holds(says, number=0, *, of=None, **facts):
    """Whether the rule of these words holds; of several the one of this number."""
    some = [rule for rule in RULES if rule.says == says and of in (None, rule.task)]
    return bool(some[number].when(Facts(**facts)))


WORDS = {"task": "classifier", "examples": 100, "words": 1000, "held": True}
RARE = "a class with a tenth of the most frequent one's examples, but ten at least"
LONG = "more than 1,000,000 words, over 100 a text"
FEW = "up to 100,000 words without a file to validate on, nor `--minutes`"
LITTLE = "texts of words, up to 1,000,000 in all"
TAGS = "150,000 to 300,000 words"
TIMED = "`--minutes` without `--epochs`"
START = "`--init` with an objective"


@pytest.mark.parametrize(
    ("says", "inside", "outside"),
    [
        ("every text", {}, {"trained": True}),
        (
            "more than 100 million pairs of a text and a label",
            {"examples": 50_000_001},
            {"examples": 50_000_000},
        ),
        (LITTLE, {"words": 1_000_000}, {"words": 1_000_001}),
        (LITTLE, {}, {"trained": True}),
        (LITTLE, {}, {"kind": "chars"}),
        ("the same, up to 300,000", {"words": 300_000}, {"words": 300_001}),
        ("the same, up to 300,000", {}, {"trained": True}),
        ("the same, up to 300,000", {}, {"kind": "bytes"}),
        ("the same, up to 100,000", {"words": 100_000}, {"words": 100_001}),
        ("the same, up to 100,000", {}, {"trained": True}),
        ("the same, up to 100,000", {}, {"kind": "chars+features"}),
        (FEW, {"words": 100_000}, {"words": 100_001}),
        (FEW, {}, {"held": False}),
        (FEW, {}, {"minutes": 1.0}),
        (RARE, {"classes": {"a": 100, "b": 10}}, {"classes": {"a": 99, "b": 10}}),
        (RARE, {"classes": {"a": 90, "b": 100, "c": 10}}, {"classes": {"a": 90, "b": 9}}),
        (LONG, {"words": 1_000_001, "examples": 10_000}, {"words": 1_000_000, "examples": 5000}),
        (LONG, {"words": 1_000_100, "examples": 10_000}, {"words": 1_000_100, "examples": 10_001}),
        (LONG, {"words": 2_000_000, "examples": 10}, {"words": 2_000_000, "examples": 10, "trained": True}),
    ],
)
def test_a_rule_for_classifiers_holds_where_it_says(says, inside, outside):
    labels = {"classes": {"a": 50, "b": 50}}
    assert holds(says, of="classifier", **(WORDS | labels | inside))
    assert not holds(says, of="classifier", **(WORDS | labels | outside))


@pytest.mark.parametrize(
    ("says", "inside", "outside"),
    [
        (TAGS, {"words": 150_000}, {"words": 149_999}),
        (TAGS, {"words": 300_000}, {"words": 300_001}),
        (TAGS, {"words": 200_000}, {"words": 200_000, "trained": True}),
        (TAGS, {"words": 200_000}, {"words": 200_000, "objective": "risk"}),
        (FEW, {"words": 100_000}, {"words": 100_001}),
        (FEW, {}, {"trained": True}),
        (FEW, {}, {"held": False}),
        (FEW, {}, {"minutes": 0.5}),
    ],
)
def test_a_rule_for_taggers_holds_where_it_says(says, inside, outside):
    assert holds(says, of="tagger", **(WORDS | inside))
    assert not holds(says, of="tagger", **(WORDS | outside))


TEXT = {"task": "lm", "running": True, "words": 100_000, "characters": 500_000}
ON_CPU = "a text of 50,000 words or more, on a CPU"
CHARACTERS = "a text of 50,000 characters or more, on a CPU"
SOON = "the same, read in a few minutes, without a file to validate on, nor `--minutes`"
NGRAMS = "a text of 50,000 to 50 million words"


@pytest.mark.parametrize(
    ("says", "inside", "outside"),
    [
        (ON_CPU, {"words": 50_000}, {"words": 49_999}),
        (ON_CPU, {}, {"device": "cuda"}),
        (ON_CPU, {}, {"kind": "chars"}),
        (CHARACTERS, {"kind": "chars", "characters": 50_000}, {"kind": "chars", "characters": 49_999}),
        (CHARACTERS, {"kind": "bytes"}, {"kind": "bytes", "device": "cuda"}),
        (CHARACTERS, {"kind": "chars"}, {}),
        (SOON, {"held": True}, {"held": False}),
        (SOON, {"held": True}, {"held": True, "device": "cuda"}),
        (SOON, {"held": True}, {"held": True, "words": 10_000_000}),
        (NGRAMS, {"words": 50_000_000}, {"words": 50_000_001}),
        (NGRAMS, {"words": 50_000, "device": "cuda"}, {"words": 49_999}),
        (NGRAMS, {}, {"kind": "chars"}),
    ],
)
@pytest.mark.parametrize("number", [0, 1])
def test_a_rule_for_language_models_holds_where_it_says(says, number, inside, outside):
    number = number if says == ON_CPU else 0
    assert holds(says, number, **(TEXT | inside))
    assert not holds(says, number, **(TEXT | outside))


@pytest.mark.parametrize(
    ("says", "inside", "outside"),
    [
        ("`--init`", {"trained": True}, {}),
        (START, {"trained": True, "objective": "risk"}, {"trained": True}),
        (START, {"trained": True, "objective": "mixer"}, {"objective": "mixer"}),
        ("objective risk or reinforce", {"objective": "risk"}, {"objective": "mixer"}),
        ("objective risk or reinforce", {"objective": "reinforce"}, {}),
        (TIMED, {"timed": True}, {"minutes": 1.0}),
    ],
)
def test_a_rule_for_every_task_holds_where_it_says(says, inside, outside):
    for number in range(3 if says == TIMED else 1):
        assert holds(says, number, **(WORDS | inside))
        assert not holds(says, number, **(WORDS | outside))


def test_epochs_of_a_classifier_read_so_many_words_in_all():
    def epochs(**facts):
        return classifier_epochs(Facts(**facts))

    assert epochs(examples=5000, words=520_000) == 5
    assert epochs(examples=5000, words=260_000, unlabelled_words=260_000) == 5
    assert epochs(examples=5000, words=5_000_000) == 3
    assert [epochs(examples=n, words=1) for n in (999, 1000)] == [20, 10]
    assert epochs(examples=500, unlabelled_texts=500, words=1) == 10
    assert epochs(examples=0, words=0) == 20


@pytest.mark.parametrize("task", TASKS)
def test_a_model_that_is_trained_on_takes_smaller_steps(task):
    usual, facts = TASKS[task].load().defaults.training["lr"], Facts(task=task)
    assert lower_rate(facts) == usual / 4
    assert low_rate(facts) == usual / 10


def lm(**facts):
    return Facts(**(TEXT | facts))


def test_a_text_is_learnt_from_nothing_and_by_likelihood():
    assert learns_text(lm(words=50_000))
    for other in ({"words": 49_999}, {"trained": True}, {"objective": "risk"}):
        assert not learns_text(lm(**other))


def test_what_a_run_reads_is_its_epochs_or_its_minutes():
    assert count_read(lm(words=1_000_000)) == 4_000_000
    assert count_read(lm(timed=True, minutes=2.0)) == 1_200_000
    assert count_read(lm(timed=True, minutes=2.0, kind="chars")) == 4_000_000
    assert count_read(lm(timed=True, minutes=1.0, cores=4)) == pytest.approx(600_000 * 4**0.7)
    assert is_read_soon(lm(words=100_000))
    assert not is_read_soon(lm(words=100_000, minutes=1.0))
    assert not is_read_soon(lm(words=100_001))  # ten times
    assert is_read_soon(lm(characters=500_000, kind="chars"))
    assert not is_read_soon(lm(characters=2_500_001, kind="chars"))


def test_epochs_of_a_text_read_four_million_tokens_two_to_ten_times():
    asked = {100_000: 10, 400_000: 10, 500_000: 8, 1_000_000: 4, 2_000_000: 2, 50_000_000: 2}
    assert {words: choose_lm_epochs(lm(words=words)) for words in asked} == asked


def read(times, words=1_000_000, **facts):
    """A text that is read so many times in the time that there is."""
    return lm(words=words, characters=words, timed=True, minutes=times * words / 600_000, **facts)


def test_sizes_grow_where_more_is_read():
    steps = {0.9: (256, 128), 1.1: (300, 200), 2.9: (300, 200), 3.1: (400, 200)}
    found = {n: (choose_lm_units(read(n)), choose_lm_embedding(read(n))) for n in steps}
    assert found == steps
    exact = lm(timed=True, minutes=1_000_000 / 600_000, words=1)
    if count_read(exact) == 1_000_000:
        assert (choose_lm_units(exact), choose_lm_embedding(exact)) == (300, 200)
    assert [choose_lm_units(lm(timed=True, minutes=m, kind="chars")) for m in (1.4, 1.5)] == [256, 384]


def test_dropout_grows_where_a_text_is_read_more_often():
    few = {2.9: 0.1, 3.1: 0.3, 9.9: 0.3, 10.1: 0.5}
    assert {n: choose_lm_dropout(read(n)) for n in few} == few
    assert choose_lm_dropout(lm(words=400_000)) == 0.3  # ten times
    assert choose_lm_dropout(replace(lm(timed=True, minutes=3.0), words=600_000)) == 0.1  # three times

    def characters(times):
        return lm(kind="chars", characters=200_000, timed=True, minutes=times / 10)

    steps = {3: 0.0, 3.1: 0.1, 10: 0.1, 10.1: 0.3, 30: 0.3, 30.1: 0.5}
    assert {n: choose_char_dropout(characters(n)) for n in steps} == steps


def test_large_texts_leave_out_rare_ngrams_and_are_evaluated_in_part():
    assert [choose_ngram_least(lm(words=words)) for words in (2_000_000, 2_000_001)] == [1, 2]
    minutes = {0.5: 10_000, 1.0: 10_000, 3.0: 30_000, 20.0: 200_000, 60.0: 200_000}
    assert {m: choose_eval_tokens(lm(minutes=m)) for m in minutes} == minutes


SPELLED = {"examples": 1000, "words": 1000, "characters": 6000, "target_words": 5000, "target_types": 40}
SPELLED |= {"task": "seq2seq", "target_characters": 9000}


def pairs(**facts):
    return Facts(**(SPELLED | facts))


def test_words_are_spelled_where_single_words_become_words_or_few_symbols():
    assert spells(pairs())
    assert spells(pairs(target_types=300))
    assert not spells(pairs(target_types=301))
    assert spells(pairs(target_types=301, target_words=1499))
    assert not spells(pairs(target_types=301, target_words=1500))
    assert spells(pairs(words=1499))
    assert not spells(pairs(words=1500))
    assert not spells(pairs(words=0))
    assert spells(pairs(words=2000, features=True))
    assert not spells(pairs(words=2500, features=True))
    assert not spells(pairs(words=1000, features=True))  # nothing but features
    assert spells(pairs(characters=39_999))
    assert not spells(pairs(characters=40_000))


def test_few_words_and_those_with_room_for_ctc():
    many = {name: 20 * SPELLED[name] for name in ("words", "characters", "target_words")}
    assert spells_little(pairs(examples=20_000, **many))
    assert not spells_little(pairs(examples=20_001, **many))
    assert spells_in_order(pairs(target_words=9000))
    assert not spells_in_order(pairs(target_words=9001))
    words = {"target_words": 1000, "target_types": 900}
    assert spells_in_order(pairs(**words, target_characters=9000))
    assert not spells_in_order(pairs(**words, target_characters=9001))


SENTENCES = {"task": "seq2seq", "examples": 1000, "words": 9000, "target_words": 9000, "target_types": 2000}
SENTENCES |= {"kind": "bpe", "target_kind": "unigram", "characters": 50_000}


def test_sentences_of_pieces_are_few_on_a_cpu():
    assert translates_little(Facts(**SENTENCES))
    for other in ({"kind": "words"}, {"target_kind": "chars"}, {"device": "cuda"}, {"words": 991_001}):
        assert not translates_little(Facts(**(SENTENCES | other)))
    assert translates_little(Facts(**(SENTENCES | {"words": 991_000})))
    assert not translates_little(pairs(kind="bpe", target_kind="bpe"))


def test_sizes_of_sequence_to_sequence_are_what_they_say():
    pieces = {8000: 1000, 80_000: 1000, 160_000: 2000, 640_000: 8000, 900_000: 8000}
    assert {n: choose_pieces(Facts(words=n // 2, target_words=n // 2)) for n in pieces} == pieces
    epochs = {0: 20, 100_000: 20, 250_000: 10, 400_000: 6, 1_000_000: 6}
    assert {n: choose_sentence_epochs(Facts(words=n // 4, target_words=n - n // 4)) for n in epochs} == epochs
    spelling = {0: 60, 1000: 60, 4000: 30, 3000: 35, 10_000: 19}
    assert {n: choose_spelling_epochs(Facts(examples=n)) for n in spelling} == spelling


@pytest.mark.parametrize(
    ("says", "facts", "other"),
    [
        ("the same with features, `walk V;PST`", {"words": 2000, "features": True}, {"words": 1001}),
        ("single words to single words", {"target_words": 1499}, {"target_words": 1500}),
        (
            "single words to several of at most 300, such as phonemes",
            {"target_words": 1500},
            {"target_words": 1499},
        ),
        ("the same, at most 2,000", {}, {"target_words": 9001}),
    ],
)
def test_a_rule_for_spelling_holds_where_it_says(says, facts, other):
    assert holds(says, **(SPELLED | facts))
    assert not holds(says, **(SPELLED | other))


def test_words_that_share_half_of_their_letters_are_copied():
    says = "single words to words of which half the letters are theirs"
    facts = SPELLED | {"target_words": 1000, "shared": 0.5}
    assert holds(says, **facts)
    for other in ({"shared": 0.49}, {"target_words": 1500}, {"examples": 100_000}):
        assert not holds(says, **(facts | other))
    many = {name: 2 * SPELLED[name] for name in ("words", "characters", "target_words")}
    assert holds("the same, at most 2,000", **(SPELLED | many | {"examples": 2000}))
    assert not holds("the same, at most 2,000", **(SPELLED | many | {"examples": 2001}))
