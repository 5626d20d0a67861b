"""Bad rows in files that are no tables: the whole sentence or pair is left out, and the rest is read."""

from pathlib import Path

import pytest

from elman.errors import ConfigError, DataError
from elman.tasks.classifier.task import ClassifierDataConfig
from elman.tasks.classifier.task import read_examples as read_texts
from elman.tasks.language_model.task import LanguageModel, LanguageModelDataConfig
from elman.tasks.seq2seq.task import Seq2Seq, Seq2SeqDataConfig
from elman.tasks.tagger.task import TaggerDataConfig, read_examples

CONLL = "Ann B-PER\nleft O\n\nBob\nstayed O\n\nWho O\nwas O B-PER\n\nShe O\n"


def test_sentences_with_a_line_that_cannot_be_read_are_refused_together_or_skipped(tmp_path: Path):
    path = tmp_path / "a.conll"
    path.write_text(CONLL)
    with pytest.raises(DataError) as caught:
        list(read_examples(TaggerDataConfig(), str(path)))
    assert str(caught.value) == (
        f"{path}:4: expected 2 columns, found 1; {path}:8: expected 2 columns, found 3 "
        "(2 bad sentences of 4; mend them, or skip them with --skip-bad)"
    )
    found = list(read_examples(TaggerDataConfig(skip_bad=True), str(path)))
    assert [example.words for example in found] == [("Ann", "left"), ("She",)]


def test_words_without_as_many_tags_are_skipped(tmp_path: Path):
    (tmp_path / "a.words").write_text("Ann left\nBob stayed\n")
    (tmp_path / "a.tags").write_text("P O\nP\n")
    paths = str(tmp_path / "a.words"), str(tmp_path / "a.tags")
    with pytest.raises(DataError, match=r"a\.tags:2: 1 tags for the 2 words .*1 bad sentence of 2"):
        list(read_examples(TaggerDataConfig(), paths))
    assert len(list(read_examples(TaggerDataConfig(skip_bad=True), paths))) == 1


def test_texts_without_a_label_in_the_file_beside_them_are_skipped(tmp_path: Path):
    (tmp_path / "a.txt").write_text("good\nbad\n\n")
    (tmp_path / "a.labels").write_text("x\n\ny\n")
    paths = str(tmp_path / "a.txt"), str(tmp_path / "a.labels")
    with pytest.raises(DataError, match="2 bad rows of 3"):
        list(read_texts(ClassifierDataConfig(), paths))
    assert [e[:2] for e in read_texts(ClassifierDataConfig(skip_bad=True), paths)] == [("good", "x")]


def test_pairs_of_lines_of_which_one_is_empty_are_skipped(tmp_path: Path):
    (tmp_path / "a.en").write_text("one\ntwo\n\n\n")
    (tmp_path / "a.de").write_text("eins\n\ndrei\n\n")
    paths = str(tmp_path / "a.en"), str(tmp_path / "a.de")
    with pytest.raises(DataError, match=r"en:2: the target is empty.*en:3: the source is empty.*2 bad rows"):
        list(Seq2Seq.read(Seq2SeqDataConfig(), paths))
    assert [e[:2] for e in Seq2Seq.read(Seq2SeqDataConfig(skip_bad=True), paths)] == [("one", ("eins",))]


def test_where_no_row_can_be_bad_the_option_is_refused(tmp_path: Path):
    (tmp_path / "a.txt").write_text("a\n")
    with pytest.raises(ConfigError, match="skip_bad is for tables"):
        LanguageModel.read(LanguageModelDataConfig(skip_bad=True), str(tmp_path / "a.txt"))
    with pytest.raises(ConfigError, match="skip_bad is for tables"):
        ClassifierDataConfig(format="trees", skip_bad=True)
