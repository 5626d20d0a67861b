"""Data that would train something else than was meant, without a word: refused where it is read."""

import json

import pytest

import elman
from elman.cli.answers import _format
from elman.cli.app import elman as command
from elman.errors import ConfigError, DataError
from elman.tasks.classifier.data import ClassifierDataConfig, read_examples
from elman.tasks.pairs.data import PairsDataConfig
from elman.tasks.pairs.task import Pairs
from elman.tasks.results import Answer
from elman.tasks.seq2seq.data import Seq2SeqDataConfig
from elman.tasks.seq2seq.task import Seq2Seq
from elman.tasks.tagger.data import TaggerDataConfig
from elman.tasks.tagger.task import Tagger
from tests.tasks.topics import TINY, examples, table


def read(rows, **data):
    from elman.text.tables import InMemory

    return list(read_examples(ClassifierDataConfig(**data), InMemory.hold(rows)))


def test_blanks_around_a_label_make_no_other_label():
    assert {e.label for e in read([("a", "NUM"), ("b", "NUM "), ("c", "\u00a0NUM")])} == {"NUM"}


@pytest.mark.parametrize("label", ["x\ny", "x\ty", "x\ry", "x\u2028y", "x\0y"])
@pytest.mark.parametrize("multi", [False, True])
def test_a_label_is_one_line(label, multi):
    with pytest.raises(DataError, match="a label is one line"):
        read([("a", "z"), ("b", label)], multi=multi)


def test_bad_labels_can_be_skipped_like_other_bad_rows():
    assert [e.text for e in read([("a", "z"), ("b", "x\ny")], skip_bad=True)] == ["a"]


def test_what_is_left_of_a_label_is_not_nothing():
    with pytest.raises(DataError, match="nothing is left of the label ':x'"):
        read([("a", "z:y"), ("b", ":x")], label_until=":")


def test_an_answer_is_one_line_whatever_it_holds():
    assert _format(Answer("a\nb\r", {}), None, as_json=False) == b"a\\nb\\r\n"


@pytest.mark.parametrize("columns", [("1", "1"), ("text", "text")])
def test_one_column_is_not_text_and_label(columns, tmp_path):
    text, label = columns
    with pytest.raises(ConfigError, match=r"one column is to be text and label"):
        list(read_examples(ClassifierDataConfig(text=text, label=label), table(tmp_path / "a.tsv", 4)))


def test_one_column_is_not_both_texts_of_a_pair(tmp_path):
    (tmp_path / "a.tsv").write_text("first\tsecond\tlabel\na\tb\tx\n")
    with pytest.raises(ConfigError, match=r"one column is to be first and second: .* --second"):
        list(Pairs.read(PairsDataConfig(second="first"), str(tmp_path / "a.tsv")))


def test_one_column_is_not_source_and_features(tmp_path):
    (tmp_path / "a.tsv").write_text("source\ttarget\nwalk\twalked\n")
    with pytest.raises(ConfigError, match=r"one column is to be text and features: .* --features"):
        list(Seq2Seq.read(Seq2SeqDataConfig(features="source"), str(tmp_path / "a.tsv")))


def test_one_column_is_not_words_and_tags(tmp_path):
    (tmp_path / "a.txt").write_text("a X\nb Y\n\n")
    with pytest.raises(ConfigError, match="column 1 holds the words"):
        list(Tagger.read(TaggerDataConfig(column="1"), str(tmp_path / "a.txt")))
    (tmp_path / "a.jsonl").write_text(json.dumps({"words": ["a"], "tags": ["X"]}))
    with pytest.raises(ConfigError, match="words and tags"):
        list(Tagger.read(TaggerDataConfig(column="words"), str(tmp_path / "a.jsonl")))


@pytest.mark.parametrize("tag", ["", "A B", "A\n"])
def test_a_tag_is_one_word(tag):
    with pytest.raises(DataError, match="is empty or has blanks"):
        Tagger.train([(["a", "b"], ["X", tag])] * 20)


@pytest.mark.parametrize("tag", ["X", "_", "O"])
def test_a_tagger_needs_two_tags(tag):
    with pytest.raises(DataError, match=f"all words to train on have the tag '{tag}'"):
        Tagger.train([(["a", "b"], [tag, tag])] * 20)


def test_vectors_of_no_known_word_are_refused(tmp_path):
    (tmp_path / "v.txt").write_text("zz 0.1 0.2\nyy 0.2 0.3\n")
    with pytest.raises(DataError, match=r"v\.txt: .* no word"):
        elman.Classifier.train(
            examples(40), vectors=str(tmp_path / "v.txt"), recipe={"model": TINY | {"embedding": 2}}
        )


def test_the_task_of_a_command_is_not_set_to_another(tmp_path):
    words = ["train", "classifier", "--train", "a.tsv", "--set", "task=lm", "--out", str(tmp_path / "m")]
    with pytest.raises(ConfigError, match="elman train classifier"):
        command.main(words, standalone_mode=False)
    with pytest.raises(ConfigError, match="'lm'"):
        elman.Classifier.train(examples(4), recipe={"task": "lm"})
