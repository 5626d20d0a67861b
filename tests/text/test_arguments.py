"""What is no text is refused in one sentence with its row; what plainly is one is taken."""

from __future__ import annotations

import numpy as np
import pytest

from elman.errors import ArgumentError, ElmanError
from elman.text.arguments import check_rows, check_sentences, check_text, check_texts

NAN = float("nan")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one string", r"classify takes a list of texts: classify\(\['one string'\]\)"),
        (b"bytes", "classify takes a list of texts"),
        (None, "classify takes a list of texts, not None"),
        (17, "classify takes a list of texts, not 17"),
        ({"text": "a"}, r"not a dict: give a column of it, such as data\['text'\]"),
        (["a"] * 17 + [None], r"^texts\[17\] is None; it must be a string$"),
        (["a", NAN], r"^texts\[1\] is nan; it must be a string$"),
        ([3], r"^texts\[0\] is 3; it must be a string$"),
        ([b"a"], r"^texts\[0\] is b'a'; it must be a string: decode it first$"),
        ([["a", "b"]], r"^texts\[0\] is \['a', 'b'\]; it must be a string$"),
        (np.array(5), "classify takes a list of texts, not array"),
        (np.zeros((2, 99)), r"^texts\[0\] is array\(\[0., .{40,60}…; it must be a string$"),
    ],
    ids=str,
)
def test_what_are_no_texts_are_refused_with_their_row(texts, message):
    with pytest.raises(ArgumentError, match=message) as caught:
        check_texts(texts, "classify")
    assert isinstance(caught.value, ElmanError)
    assert isinstance(caught.value, TypeError), "what Python programmers catch"


@pytest.mark.parametrize(
    "given", [[], (), iter([]), np.array([], str)], ids=["list", "tuple", "iterator", "array"]
)
def test_nothing_is_nothing(given):
    assert check_texts(given, "classify") == check_rows(given, "predict", ("text",)) == []
    assert check_sentences(given, "tag") == []


@pytest.mark.parametrize("dtype", [str, object])
def test_an_array_of_strings_is_a_list_of_texts(dtype):
    texts = check_texts(np.array(["a", "b"], dtype), "classify")
    assert texts == ["a", "b"]
    assert {*map(type, texts)} == {str}


def test_columns_of_data_frames_are_lists_of_texts_and_frames_are_not():
    pandas, polars, arrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    rows = {"text": ["a", "b"]}
    for table in (pandas.DataFrame(rows), polars.DataFrame(rows), arrow.table(rows)):
        assert check_texts(table["text"], "classify") == ["a", "b"]
        with pytest.raises(ArgumentError, match=r"not a (DataFrame|Table): give a column of it"):
            check_texts(table, "classify")
    with pytest.raises(ArgumentError, match=r"texts\[1\] is (None|nan|<NA>); it must be a string"):
        check_texts(pandas.Series(["a", None]), "classify")


def test_one_text_is_a_string():
    assert check_text("a", "score") == "a"
    with pytest.raises(ArgumentError, match=r"^score takes one text, a string, not .*; scores takes a list$"):
        check_text(["a"], "score", many="scores")
    with pytest.raises(ArgumentError, match=r"^generate takes one text, a string, not None$"):
        check_text(None, "generate")


def test_a_sentence_is_a_text_or_its_words():
    assert check_sentences(["a b", ["a", "b"], np.array(["c"])], "tag") == ["a b", ["a", "b"], ["c"]]
    with pytest.raises(ArgumentError, match=r"^tag takes a list of sentences: tag\(\['a b'\]\)$"):
        check_sentences("a b", "tag")
    with pytest.raises(ArgumentError, match=r"^sentences\[1\] is None; it must be a string or a list"):
        check_sentences(["a", None], "tag")
    with pytest.raises(ArgumentError, match=r"^sentences\[0\]\[1\] is nan; it must be a string$"):
        check_sentences([["a", NAN]], "tag")


def test_a_pair_is_two_strings_by_place_or_by_name():
    rows = [("a", "b"), ["c", "d"], {"second": "f", "first": "e", "label": "x"}]
    assert check_rows(rows, "classify", ("first", "second")) == [("a", "b"), ("c", "d"), ("e", "f")]
    assert check_rows(["a", ("b",)], "predict", ("text",)) == [("a",), ("b",)]
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    table = {"label": ["x"], "second": ["b"], "first": ["a"]}
    for frame in (pandas.DataFrame(table), arrow.table(table)):
        assert check_rows(frame, "classify", ("first", "second")) == [("a", "b")]
    with pytest.raises(ArgumentError, match="classify: there is no column 'first'; there are text, second"):
        check_rows(pandas.DataFrame({"text": ["a"], "second": ["b"]}), "classify", ("first", "second"))
    for wrong in (("a", "b"), [("a",)], [("a", "b", "c")], [{"first": "a"}], [None]):
        with pytest.raises(ArgumentError, match=r"^pairs\[0\] is .*; it must be 2 strings, first and second$"):
            check_rows(wrong, "classify", ("first", "second"))
    with pytest.raises(ArgumentError, match=r"^pairs\[1\]\[0\] is None; it must be a string$"):
        check_rows([("a", "b"), (None, "b")], "classify", ("first", "second"))
    with pytest.raises(ArgumentError, match=r'^classify takes a list of pairs: classify\(\[\("…", "…"\)\]\)$'):
        check_rows("a b", "classify", ("first", "second"))
