"""Every exercise accepts a right answer, rejects wrong ones with a hint, and never tells the answer."""

from importlib import import_module
from typing import Any

import pytest
import torch

from elman.course import check
from elman.course.exercise import NOTEBOOKS, Exercise, list_exercises
from elman.course.grading import _tries, is_blank
from elman.errors import ConfigError
from elman.formula import Gates, Matrices, State, formula

EXERCISES = [exercise for number in NOTEBOOKS for exercise in list_exercises(number)]
each = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.number)


def answers(exercise: Exercise) -> tuple[Any, list[Any]]:
    module = import_module(f"tests.course.answers_{exercise.number[:2]}")
    return module.RIGHT[exercise.number], module.WRONG[exercise.number]


@pytest.fixture(autouse=True)
def _first_try() -> None:
    _tries.clear()


@each
def test_a_right_answer_is_accepted(exercise: Exercise, capsys: pytest.CaptureFixture[str]) -> None:
    right, _ = answers(exercise)
    assert check(exercise.number, right) is True
    assert capsys.readouterr().out == f"✓ {exercise.number}: right. {exercise.why}\n"


@each
def test_three_plausible_wrong_answers_are_rejected_with_a_hint(
    exercise: Exercise, capsys: pytest.CaptureFixture[str]
) -> None:
    _, wrong = answers(exercise)
    assert len(wrong) >= 3
    for tries, answer in enumerate(wrong, 1):
        assert check(exercise.number, answer) is False
        said = capsys.readouterr().out
        assert said.startswith(f"✗ {exercise.number}: not yet. ")
        place = min(tries, len(exercise.hints))
        assert f"Hint {place} of {len(exercise.hints)}: {exercise.hints[place - 1]}" in said


@each
def test_what_is_not_answered_gets_the_question_and_the_first_hint(
    exercise: Exercise, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(exercise.number, ...) is False
    said = capsys.readouterr().out
    assert exercise.asks in said
    assert exercise.hints[0] in said
    assert not _tries


@each
def test_no_hint_holds_the_answer(exercise: Exercise) -> None:
    right, _ = answers(exercise)
    if isinstance(right, int | float | str) and len(str(right)) > 2:
        assert not any(str(right) in said for said in (exercise.asks, *exercise.hints))


@each
def test_hints_are_several_sentences_for_people(exercise: Exercise) -> None:
    assert len(exercise.hints) >= 2
    for said in (exercise.asks, *exercise.hints, exercise.why):
        assert said[0].isupper() or not said[0].isalpha()
        assert said[-1] in ".?"


def test_numbers_count_from_one_in_each_notebook() -> None:
    for number in NOTEBOOKS:
        found = [exercise.number for exercise in list_exercises(number)]
        assert found == [f"{number}.{place}" for place in range(1, len(found) + 1)]


def test_an_unknown_exercise_is_an_error_that_says_which_there_are() -> None:
    with pytest.raises(ConfigError, match=r"'01\.9'; notebook 01 has 01\.1"):
        check("01.9", 1)
    with pytest.raises(ConfigError, match="unknown exercise 'one'"):
        check("one", 1)


def test_a_function_without_a_body_is_no_answer_and_one_that_gives_an_argument_is() -> None:
    def blank(a): ...
    def described(a):
        """Has a docstring alone."""

    @formula(gates="h")
    def nothing(x: Gates, U: Matrices, s: State) -> State: ...

    assert all(map(is_blank, (blank, described, nothing, ..., (1, ...), [...], {"a": ...})))
    assert not any(map(is_blank, (lambda a: a, lambda a: 0, max, 0, None, (1, 2), "")))


def test_judging_leaves_the_random_numbers_of_the_notebook_alone() -> None:
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    check("01.2", lambda *_: torch.rand(3))
    assert torch.equal(torch.rand(1), expected)


def test_an_answer_that_fails_is_not_right_and_its_error_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("01.1", lambda s, x: s / 0) is False
    assert "raised ZeroDivisionError: " in capsys.readouterr().out
