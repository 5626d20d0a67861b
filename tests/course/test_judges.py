"""Judges say what is wrong with an answer, and a mistake that is known by its name."""

import pytest
import torch

from elman.course.exercise import find_exercise
from elman.course.judges import differs, expect_number, expect_word
from tests.course import answers_01, answers_02, answers_03, answers_04


def test_a_number_is_right_within_its_tolerance_or_its_mistake_is_named():
    judge = expect_number(0.5, {2.0: "Upside down."}, tolerance=0.01)
    assert judge(0.509) is None
    assert judge(2.005) == "Upside down."
    assert judge(0.52) == "0.52 is too large."
    assert judge(0.4) == "0.4 is too small."


def test_a_word_is_right_in_any_letters_and_a_part_of_it_is_not():
    judge = expect_word("explodes", {"stays": "It moves."})
    assert judge(" Explodes ") is None
    assert judge("stays") == "It moves."
    assert judge("explode") == "'explode' is none of these: explodes, stays."
    assert judge(1) == "The answer is a word in quotes, not int."


def test_a_tensor_is_judged_by_kind_then_shape_then_values():
    right = torch.ones(2, 3)
    assert differs(right + 1e-7, right) is None
    assert differs([1.0], right) == "A tensor is expected, and this is list."
    assert differs(torch.ones(3), right) == "The shape should be (2, 3), and it is (3,)."
    assert differs(right * 2, right) == "The shape is right, the values are not."


@pytest.mark.parametrize(
    ("wrong", "number", "place", "said"),
    [
        (answers_01.WRONG, "01.2", 1, "The bias is missing."),
        (answers_01.WRONG, "01.2", 2, "The old state has no influence."),
        (answers_02.WRONG, "02.1", 0, "takes tanh once more"),
        (answers_02.WRONG, "02.1", 1, "slope of the sigmoid"),
        (answers_02.WRONG, "02.2", 0, "the factors are multiplied"),
        (answers_02.WRONG, "02.2", 1, "one step too few"),
        (answers_02.WRONG, "02.2", 2, "one step too many"),
        (answers_02.WRONG, "02.2", 3, "the share that is lost"),
        (answers_02.WRONG, "02.4", 0, "the direction changes"),
        (answers_02.WRONG, "02.4", 1, "must stay as it is"),
        (answers_03.WRONG, "03.1", 0, "That is the opposite"),
        (answers_03.WRONG, "03.2", 0, "the first vowel, not the last"),
        (answers_03.WRONG, "03.3", 0, "tanh lies between −1 and 1"),
        (answers_03.WRONG, "03.3", 2, "return the gate itself"),
        (answers_04.WRONG, "04.1", 0, "The gates are swapped"),
        (answers_04.WRONG, "04.1", 1, "h shows it through a tanh"),
        (answers_04.WRONG, "04.4", 0, "the opposite convention"),
        (answers_04.WRONG, "04.4", 1, "acts after the product"),
        (answers_04.WRONG, "04.4", 3, "Its gates are r, z and n"),
    ],
)
def test_a_known_mistake_is_called_by_its_name(wrong, number, place, said):
    assert said in find_exercise(number).judge(wrong[number][place])
