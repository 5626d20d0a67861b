"""Pairs from two files, tables and lines with a separator, and what is wrong with them, by file and line."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.errors import ConfigError, DataError
from elman.tasks.config import TokenizerConfig
from elman.tasks.seq2seq.task import (
    Seq2Seq,
    Seq2SeqDataConfig,
    Seq2SeqDataset,
    Seq2SeqExample,
    TokenizerPairConfig,
    read_examples,
)
from elman.tasks.seq2seq.tokenizer_pair import TokenizerPair
from elman.text.vocab import EOS, SPECIALS, UNK
from tests.tasks.toy_pairs import CHARS, FEW, WORDS, made, pairs


@pytest.fixture
def file(tmp_path):
    def write(name: str, *lines: str) -> str:
        path = tmp_path / name
        path.write_text("".join(f"{line}\n" for line in lines))
        return str(path)

    return write


def text_of(known: TokenizerPair, row) -> str:
    ids = row.target[:-1]
    return known.join_tokens(known.decode(ids, row), ids)


def sides(examples) -> list[tuple[str, tuple[str, ...]]]:
    return [(e.source, e.targets) for e in examples]


def test_two_files_are_read_line_by_line(file):
    paths = file("a.en", "one", "two words"), file("a.de", "eins", "zwei Wörter")
    found = [*read_examples(Seq2SeqDataConfig(), paths)]
    assert sides(found) == [("one", ("eins",)), ("two words", ("zwei Wörter",))]
    assert [e.where for e in found] == [f"{paths[0]}:1", f"{paths[0]}:2"]


def test_further_files_are_further_references_but_not_to_train_on(file):
    paths = file("a", "one"), file("b", "eins"), file("c", "ein")
    assert sides(read_examples(Seq2SeqDataConfig(), paths)) == [("one", ("eins", "ein"))]
    with pytest.raises(ConfigError, match="not 3"):
        read_examples(Seq2SeqDataConfig(), paths, train=True)


def test_tables_and_separated_lines_say_the_same(file):
    expected = [("one", ("eins",)), ("two words", ("zwei",))]
    tsv = file("a.tsv", "source\ttarget", "one\teins", "two words\tzwei")
    bare = file("b.tsv", "one\teins", "two words\tzwei")
    turned = file("c.csv", "de,en", "eins,one", 'zwei,"two words"')
    jsonl = file("d.jsonl", '{"source": "one", "target": "eins"}', '{"target": "zwei", "source": "two words"}')
    separated = file("e.txt", "one ||| eins", "", "two words ||| zwei")
    assert sides(read_examples(Seq2SeqDataConfig(), tsv)) == expected
    assert sides(read_examples(Seq2SeqDataConfig(), bare)) == expected
    assert sides(read_examples(Seq2SeqDataConfig(source="en", target="de"), turned)) == expected
    assert (
        sides(read_examples(Seq2SeqDataConfig(source="2", target="1"), file("f.tsv", "eins\tone")))
        == expected[:1]
    )
    assert sides(read_examples(Seq2SeqDataConfig(), jsonl)) == expected
    assert sides(read_examples(Seq2SeqDataConfig(separator="|||"), separated)) == expected


def test_pairs_with_one_source_are_references_of_one_example_unless_trained_on(file):
    path = file("a.tsv", "read\tr iy d", "lead\tl eh d", "read\tr eh d")
    data = Seq2SeqDataConfig(multi_reference=True)
    assert sides(read_examples(data, path)) == [("read", ("r iy d", "r eh d")), ("lead", ("l eh d",))]
    assert len([*read_examples(data, path, train=True)]) == 3


def test_of_grouped_pairs_no_source_that_is_trained_on_is_judged_by(file):
    train = file("a.tsv", "read\tr iy d", "lead\tl iy d")
    valid = file("b.tsv", "lead\tl eh d", "wind\tw ih n d", "wind\tw ay n d")
    with pytest.warns(UserWarning, match="1 of 2 sources to judge by are trained on, too"):
        training, held = Seq2Seq.split(Seq2SeqDataConfig(train=train, valid=valid, multi_reference=True))
    assert len(training) == 2
    assert sides(held) == [("wind", ("w ih n d", "w ay n d"))]
    _, all_of_them = Seq2Seq.split(Seq2SeqDataConfig(train=train, valid=valid))
    assert len(all_of_them) == 3
    with pytest.raises(DataError, match=r"a\.tsv:1: all sources to judge by are trained on"):
        Seq2Seq.split(Seq2SeqDataConfig(train=train, valid=train, multi_reference=True))


def test_of_grouped_pairs_that_are_held_out_none_has_a_source_that_is_trained_on(file):
    path = file("a.tsv", *(f"{i // 2}\t{i}" for i in range(400)))
    training, held = Seq2Seq.split(Seq2SeqDataConfig(train=path, holdout=0.5, multi_reference=True))
    assert len(held) == 100, "of 200 sources"
    assert all(len(example.targets) == 2 for example in held)
    assert not {e.source for e in held} & {e.source for e in training}


def test_files_of_different_length_are_named_with_their_counts(file):
    paths = file("a.en", "one", "two", "three"), file("a.de", "eins")
    with pytest.raises(DataError, match=r"a\.en has 3 lines.*a\.de has 1 lines"):
        [*read_examples(Seq2SeqDataConfig(), paths)]


@pytest.mark.parametrize(("lines", "which"), [((" ", "zwei"), "source"), (("two", ""), "target")])
def test_a_side_without_words_is_named_by_file_and_line(file, lines, which):
    paths = file("a.en", "one", lines[0]), file("a.de", "eins", lines[1])
    with pytest.raises(DataError, match=rf"a\.en:2: the {which} is empty"):
        [*read_examples(Seq2SeqDataConfig(), paths)]


def test_lines_that_are_empty_on_both_sides_are_left_out(file):
    paths = file("a.en", "one", "", "two"), file("a.de", "eins", "  ", "zwei")
    found = [*read_examples(Seq2SeqDataConfig(), paths)]
    assert sides(found) == [("one", ("eins",)), ("two", ("zwei",))]
    assert found[1].where.endswith(":3")


def test_a_line_without_its_separator_is_named(file):
    path = file("a.txt", "one = eins", "two: zwei")
    with pytest.raises(DataError, match=r"a\.txt:2: expected source and target with '='"):
        [*read_examples(Seq2SeqDataConfig(separator="="), path)]
    kept = read_examples(Seq2SeqDataConfig(separator="=", skip_bad=True), path)
    assert sides(kept) == [("one", ("eins",))]


def test_features_stand_behind_their_source_without_a_blank_among_them(file):
    rows = ("walk\twalked\tV;PST", "go\twent\tV PST", "be\tis\tV|PRS", "a\tan\tDET")
    path = file("a.tsv", "source\ttarget\ttags", *rows)
    found = read_examples(Seq2SeqDataConfig(features="tags"), path)
    assert [e.source for e in found] == ["walk V;PST", "go V;PST", "be V|PRS", "a DET;"]
    with pytest.raises(ConfigError, match="one column is to be text and features"):
        [*read_examples(Seq2SeqDataConfig(features="source"), path)]


@pytest.mark.parametrize("lines", [(), ("", " ")])
def test_a_file_without_pairs_is_named(file, lines):
    with pytest.raises(DataError, match=r"a\.en"):
        [*read_examples(Seq2SeqDataConfig(), (file("a.en", *lines), file("a.de", *lines)))]


def test_options_that_contradict_each_other_are_refused():
    both, three = ("a", "b"), {"features": "3"}
    for options in (
        {"separator": "=", "format": "tsv"},
        {"max_tokens": 0},
        {"eval_examples": -1},
        three | {"separator": "="},
        three | {"train": both},
    ):
        with pytest.raises(ConfigError):
            Seq2SeqDataConfig(**options)
    for options in (
        {"format": "tsv"},
        three,
        three | {"train": "a"},
        three | {"train": ("a",)},
        {"train": both},
    ):
        Seq2SeqDataConfig(**options)
    with pytest.raises(ConfigError, match="joint"):
        TokenizerPairConfig(TokenizerConfig("chars"), TokenizerConfig("words"), joint=True)


def test_long_pairs_are_not_trained_on_and_it_is_an_error_if_all_are():
    one = made()
    data = one.encode(FEW)
    assert [row.text for row in data.within(3).rows] == ["ab", "bca"]  # xyy and </s> are four
    plan = one.build_batches(data, Seq2SeqDataConfig(train="a.tsv", max_tokens=3), 0)
    assert sum(len(batch) for batch in plan(0, 0)) == 2
    with pytest.raises(DataError, match=r"a\.tsv: every pair has more than 1 tokens"):
        one.build_batches(data, Seq2SeqDataConfig(train="a.tsv", max_tokens=1), 0)


def test_encoded_pairs_have_a_length_on_each_side_the_end_counted():
    data = made().encode(FEW)
    assert data.lengths == [(2, 2), (3, 3), (1, 4), (4, 2)]
    assert isinstance(data.pick([2, 0]), Seq2SeqDataset)
    assert data.pick([2, 0]).examples == [FEW[2], FEW[0]]


@given(st.text(max_size=8), st.text(max_size=8))
def test_characters_are_written_as_they_were_read(source, target):
    known = TokenizerPair.learn(CHARS, [*FEW, Seq2SeqExample(source + "a", (target + "b",))])
    row = known.encode(source, target)
    assert row.target[-1] == EOS
    assert text_of(known, row) == target
    assert known.decode(row.target[:-1], row) == list(target)


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("kind", ["chars", "whitespace", "bpe"])
def test_stored_sides_come_back(tmp_path: Path, kind, joint):
    cut = TokenizerConfig(kind, size=270 if kind == "bpe" else 0)
    known = TokenizerPair.learn(TokenizerPairConfig(cut, cut, joint), FEW)
    TokenizerPair.learn(TokenizerPairConfig(cut, cut, not joint), FEW).save(tmp_path)  # of an earlier model
    known.save(tmp_path)
    found = TokenizerPair.load(tmp_path)
    assert found.joint == joint
    assert found.matches(known)
    assert found.encode("abz", "xq") == known.encode("abz", "xq")


def test_unknown_words_of_a_source_have_ids_beyond_the_vocabulary_each_its_own():
    known = TokenizerPair.learn(WORDS, pairs(("a b", "x b"), ("c", "y")))
    size = len(known.target.items)
    row = known.encode_copying("b new c new a", "x new c b other")
    b, c, a = size - 0, size + 1, size + 2
    assert row.unknown == ("new", "c", "a")  # the target's vocabulary has only b of these
    assert row.copies == [known.target.encode("b")[0], b, c, b, a]
    assert row.target == [*known.target.encode("x"), b, c, *known.target.encode("b"), UNK, EOS]
    assert text_of(known, row) == "x new c b <unk>"


def test_a_source_that_spells_special_tokens_can_neither_end_nor_pad_the_answer():
    known = TokenizerPair.learn(WORDS, pairs(("a", "x")))
    row = known.encode_copying(" ".join(SPECIALS), "x </s> x")
    assert row.unknown == SPECIALS
    assert min(row.copies) >= len(known.target.items)
    assert row.target.count(EOS) == 1
    assert text_of(known, row) == "x </s> x"
