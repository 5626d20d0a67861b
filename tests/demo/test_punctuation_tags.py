"""Capitals and marks taken off and put on again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.demo.punctuation import Passage, build_passages, restore_text, strip_marks, tag_passage

WORD = st.from_regex(r"[a-z0-9]{1,8}", fullmatch=True)
CASED = st.tuples(WORD, st.sampled_from([str.lower, str.upper, str.capitalize]))
PIECE = st.tuples(CASED, st.sampled_from(["", "", ",", ".", "?", ":"])).map(
    lambda one: one[0][1](one[0][0]) + one[1]
)


@given(st.lists(PIECE, min_size=1, max_size=12).map(" ".join))
def test_what_is_taken_off_can_be_put_on_again(text):
    found = tag_passage(text)
    assert found is not None
    assert restore_text(found) == text
    assert list(found.words) == strip_marks(text)


def test_tags_say_capitals_and_marks():
    assert tag_passage("Yes, NASA did.") == Passage(("yes", "nasa", "did"), ("X,", "XX", "x."))


@pytest.mark.parametrize("text", ["NumPy is here.", "A (small) word.", 'He said "no".'])
def test_what_no_tag_can_say_is_no_passage(text):
    assert tag_passage(text) is None


def test_sentences_of_a_file_stand_together():
    found = build_passages({"a": ["One is here.", "NumPy is not.", "Two is."], "b": ["Only NumPy."]})
    assert [restore_text(one) for one in found.pop("a")] == ["One is here. Two is."]
    assert found == {}


def test_a_single_capital_is_one_of_a_name_and_several_are_of_an_abbreviation():
    assert tag_passage("I saw NASA, A B.").tags == ("X", "x", "XX,", "X", "X.")


def test_a_passage_has_three_sentences_and_the_last_one_what_is_left():
    five = [f"Here is number {i}." for i in "abcde"]
    made = build_passages({"a": five})["a"]
    assert [restore_text(one) for one in made] == [" ".join(five[:3]), " ".join(five[3:])]
    assert len(build_passages({"a": five}, together=1)["a"]) == 5
