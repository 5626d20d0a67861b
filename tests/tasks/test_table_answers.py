"""Which columns of a table hold the texts, what answers are called, and what is measured of data."""

from types import SimpleNamespace

import numpy as np
import pytest

from elman.errors import ConfigError, DataError
from elman.tasks.data_facts import DataFacts, count_classes, count_words, measure_texts
from elman.tasks.table_answers import (
    find_texts,
    free_name,
    free_names,
    read_texts,
    show_column,
    trained_columns,
    wanted_columns,
)
from elman.tasks.word_batch import WordForms, collate
from elman.text.tables import Table, TableRow
from elman.text.tables.table import Missing
from tests.tasks.topics import fresh


def table(*columns, width=None):
    return Table("a.csv", columns or None, (), width=width or len(columns) or None, line=1)


def test_the_columns_are_those_of_training_unless_somebody_names_others():
    model = fresh()
    assert wanted_columns(model) == {"text": "text"}
    assert wanted_columns(model, ["Body"]) == {"text": "Body"}
    with pytest.raises(ConfigError, match=r"^--text was given 2 times, but .* reads text: name 1$"):
        wanted_columns(model, ["a", "b"])
    assert trained_columns(model) == {}
    sources = [{"columns": {"text": "Body"}}, {"columns": {"text": "Other"}}]
    model.record = SimpleNamespace(data=SimpleNamespace(text="3"), run={"data": {"train": sources}})
    assert trained_columns(model) == {"text": "Body"}
    assert wanted_columns(model) == {"text": "3"}
    model.record = SimpleNamespace(data=SimpleNamespace(), run={"data": {"train": [{}]}})
    assert (trained_columns(model), wanted_columns(model)) == ({}, {"text": "text"})


def test_a_name_that_nobody_chose_is_that_of_training_where_the_table_has_it():
    trained = {"text": "Body"}
    assert find_texts(table("id", "Body", "text"), {"text": "text"}, trained) == (1,)
    assert find_texts(table("id", "text"), {"text": "text"}, trained) == (1,)
    assert find_texts(table("id", "Body", "x"), {"text": "x"}, trained) == (2,)
    assert find_texts(table("id", "Body"), {"text": "2"}, trained) == (1,)


def test_without_a_header_columns_have_numbers_or_are_all():
    both = {"first": "first", "second": "second"}
    assert find_texts(table(width=2), both) == (0, 1)
    assert find_texts(table(width=3), {"first": "3", "second": "1"}) == (2, 0)
    with pytest.raises(
        DataError, match=r"^a\.csv:1: this row does not name 'first' and 'second'; say .*--text 1 --text 2$"
    ):
        find_texts(table(width=3), both)


def test_a_row_without_a_text_has_none_and_one_that_cannot_be_read_is_refused():
    named, bare = table("id", "text", "more"), table(width=3)
    assert read_texts(named, TableRow(2, (1, "a", "b")), (1, 2)) == ("a", "b")
    assert read_texts(named, TableRow(2, (1, "a", "b")), (2, 0)) == ("b", "1")
    for empty in (" ", "", None, Missing(("id",))):
        assert read_texts(named, TableRow(2, (1, "a", empty)), (1, 2)) is None
        assert read_texts(named, TableRow(2, (1, "a", empty)), (1,)) == ("a",)
    with pytest.raises(DataError, match=r"^a\.csv:7: too short$"):
        read_texts(named, TableRow(7, (), problem="too short"), (1,))
    with pytest.raises(DataError, match=r"^a\.csv:7: .*text"):
        read_texts(named, TableRow(7, (1, ["a", "list"], "b")), (1,))
    with pytest.raises(DataError, match=r"^a\.csv:7: .*2"):
        read_texts(bare, TableRow(7, ("x", {"a": 1}, "b")), (1,))
    with pytest.raises(DataError, match=r"^a\.csv:7: .*3"):
        read_texts(bare, TableRow(7, ("x", "b", {"a": 1})), (2,))
    assert show_column(named, 1) == '"text"'
    assert show_column(bare, 1) == "column 2"


def test_an_added_column_has_a_name_that_no_column_has():
    assert free_name("label", {"text"}) == "label"
    assert free_name("label", {"label"}) == "label_predicted"
    assert free_name("label", {"label", "label_predicted"}) == "label_predicted2"
    assert free_name("label", {"label", "label_predicted", "label_predicted2"}) == "label_predicted3"
    assert free_names(["a", "b"], {"b"}) == {"a": "a", "b": "b_predicted"}


def test_data_is_measured_in_examples_words_and_characters():
    texts = ["to be or not to be", "", "that is"]
    found = measure_texts(texts)
    assert found == {"examples": 3, "words": 8, "characters": 25, "types": 6, "longest": 6}
    assert measure_texts([]) == {"examples": 0, "words": 0, "characters": 0, "types": 0, "longest": 0}
    assert count_words(texts) == ([6, 0, 2], {"to", "be", "or", "not", "that", "is"})
    assert count_classes(["ab", "b"], lambda example: example) == {"a": 1, "b": 2}


def test_of_much_text_every_so_many_is_counted_for_all(monkeypatch):
    monkeypatch.setattr("elman.tasks.data_facts.SAMPLE", 50)
    texts = ["a b c", "x"] * 20  # 120 characters: the first of three is counted
    found = measure_texts(texts)
    counted = texts[:: 2 + 1]
    assert found["words"] == sum(len(t.split()) for t in counted) * 40 // len(counted)
    assert (found["examples"], found["characters"]) == (40, 120)
    monkeypatch.setattr("elman.tasks.data_facts.SAMPLE", 121)
    assert measure_texts(texts)["words"] == 80


def test_means_and_classes_of_nothing_are_zero():
    none = DataFacts()
    assert (none.mean, none.target_mean, none.rarest, none.most_frequent) == (0, 0, 0, 0)
    some = DataFacts(examples=4, words=6, characters=20, target_words=2, classes={"a": 3, "b": 1, "c": 2})
    assert (some.mean, some.target_mean, some.rarest, some.most_frequent) == (1.5, 0.5, 1, 3)
    kinds = {"words": 6, "bpe": 6, "chars": 20, "chars+features": 20, "bytes": 20}
    for kind, tokens in kinds.items():
        facts = DataFacts(words=6, characters=20, kind=kind)
        assert (facts.tokens, facts.reads_characters) == (tokens, tokens == 20)


def test_rows_stand_side_by_side_with_the_spelling_of_their_words():
    ids = np.array([0, 5, 6, 7])
    characters = np.array([[0, 0, 0, 0], [1, 0, 0, 0], [1, 2, 0, 0], [1, 2, 3, 4]])
    features = ids[:, None] * 10
    forms = WordForms(ids, features, characters)
    rows = [np.array([2, 1], np.int32), np.array([1], np.int32)]
    made = collate(rows, forms)
    assert made.ids.tolist() == [[6, 5], [5, 0]]
    assert made.mask.tolist() == [[True, True], [True, False]]
    assert made.features.tolist() == [[[60], [50]], [[50], [0]]]
    assert made.characters.tolist() == [[0, 0], [1, 0], [1, 2]]  # as wide as the longest that is read
    spelled = made.characters[made.place]
    assert spelled.tolist() == [[[1, 2], [1, 0]], [[1, 0], [0, 0]]]
    plain = collate(rows, WordForms(ids, features, np.zeros((4, 0), np.int64)))
    assert plain.characters.shape == (1, 0)
    assert plain.place.tolist() == [[0, 0], [0, 0]]
    codes = np.arange(2 * 4 * 3).reshape(2, 4, 3)
    read = collate(rows, WordForms(ids, features, np.zeros((4, 0), np.int64), codes))
    assert read.codes.tolist() == codes[:, [0, 1, 2]].tolist()
