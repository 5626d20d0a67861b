"""Arguments against annotations: what is of another kind is refused by its name, what fits passes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest
import torch

from elman.argument_checks import can_iterate, check_arguments, check_models
from elman.decoding import Greedy
from elman.errors import ArgumentError, ConfigError, ElmanError, check_option
from elman.generation import GenerationConfig, Sampling
from elman.ranges import PositiveInt, Share
from elman.scan.execution import check_tensors


def plain(
    text: str,
    n: PositiveInt = 1,
    *,
    share: Share | None = None,
    how: Sampling | Greedy | None = None,
    **more: int,
) -> tuple[object, ...]:
    """Neither types nor ranges are checked by Python."""
    return text, n, share, how, more


checked = check_arguments(plain)


def test_what_fits_is_handed_on_and_the_function_keeps_its_name():
    given = Sampling()
    assert checked("a", 2, share=0.5, how=given, other=3) == ("a", 2, 0.5, given, {"other": 3})
    assert checked("a", n=np.int64(3)) == ("a", 3, None, None, {})
    assert checked.__name__ == "plain"
    assert checked.__doc__ == plain.__doc__


@pytest.mark.parametrize(
    ("given", "named", "message"),
    [
        (("a", "2"), {}, "plain: n is '2'; it must be a whole number"),
        (("a", True), {}, "plain: n is True; it must be a whole number"),
        (("a", None), {}, "plain: n is None; it must be a whole number"),
        (("a", 2.5), {}, "plain: n is 2.5; it must be a whole number"),
        (("a",), {"share": "half"}, "plain: share is 'half'; it must be a number or None"),
        (("a",), {"how": 0.7}, "plain: how is 0.7; it must be a Sampling, a Greedy or None"),
        (("a",), {"how": Sampling}, "plain: how is <class 'elman.generation."),
    ],
)
def test_another_kind_is_named(given, named, message):
    with pytest.raises(ArgumentError) as error:
        checked(*given, **named)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("given", "named"), [(("a", 0), {}), (("a",), {"share": 1.5}), (("a",), {"share": 0.0})]
)
def test_a_number_out_of_range_is_named(given, named):
    with pytest.raises(ConfigError, match=r"^plain: (n|share) is [\d.]+; it must be "):
        checked(*given, **named)


class Named(Protocol):
    """What has a name."""

    name: str


def various(
    one: Any = 1,
    function: Callable[[int], int] = abs,
    items: Sequence[int] = (),
    numbers: list[int] | None = None,
    place: Path | str | float = ".",
    named: Named | None = None,
    text: str = "",
) -> None:
    """Annotations of all kinds."""


@pytest.mark.parametrize(
    "given",
    [
        {"one": object()},
        {"function": len, "numbers": ["of", "anything"]},
        {"items": 3, "named": 3, "text": 3},
        {"place": Path("x")},
        {"place": 2, "numbers": None},
    ],
)
def test_what_no_class_tells_passes(given):
    check_arguments(various)(**given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"function": 3}, "various: function is 3; it must be a Callable"),
        ({"numbers": (1,)}, "various: numbers is (1,); it must be a list or None"),
        ({"place": b"x"}, "various: place is b'x'; it must be a Path, a string or a number"),
    ],
    ids=str,
)
def test_what_a_class_tells_is_refused_in_words(given, message):
    with pytest.raises(ArgumentError) as error:
        check_arguments(various)(**given)
    assert str(error.value) == message


def test_arguments_in_their_places_have_their_names():
    with pytest.raises(ArgumentError, match=r"^various: numbers is 'x'"):
        check_arguments(various)(1, abs, (), "x")


def test_an_array_of_one_number_has_no_items():
    assert [can_iterate(x) for x in (np.array(1), torch.tensor(1), 3, None)] == [False] * 4
    assert all(map(can_iterate, ([], (), "", np.array([1]), (x for x in ()))))


def test_models_of_another_kind_are_named():
    assert check_models((Greedy(),), Greedy) == [Greedy()]
    for wrong in (None, 3, torch.tensor(1), [Greedy(), "a"]):
        with pytest.raises(ArgumentError, match=r"^others\[\d\] is .*; it must be a Greedy$"):
            check_models(wrong, Greedy)


def test_a_message_is_one_line_whatever_is_in_it():
    assert str(ElmanError("no\nsuch file")) == "no\\nsuch file"
    with pytest.raises(ConfigError) as error:
        check_option("width", torch.ones(2, 3), False, "a number")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("wrong", [(), (3,), [3]])
def test_a_tuple_is_no_number(wrong):
    with pytest.raises(ConfigError, match=r"^max_tokens is "):
        unchecked_config(wrong)


def unchecked_config(max_tokens):
    """Without the checks of types of the test run, which a user does not have."""
    config = object.__new__(GenerationConfig)
    values = {f: getattr(GenerationConfig(), f) for f in GenerationConfig.__dataclass_fields__}
    for name, value in {**values, "max_tokens": max_tokens}.items():
        object.__setattr__(config, name, value)
    config.__post_init__()


NO_NUMBERS = torch.zeros(1, 2, 3, device="meta")
NO_SIZES = torch.nested.nested_tensor([torch.zeros(2, 3)])
SPARSE = torch.zeros(1, 2, 3).to_sparse()


@pytest.mark.parametrize(
    "wrong", [[[1.0]], np.zeros((1, 2, 3)), None, "a b", SPARSE, NO_NUMBERS, NO_SIZES], ids=range(7)
)
def test_what_is_no_dense_tensor_is_refused(wrong):
    with pytest.raises(ArgumentError, match=r"^xs is .*; it must be (a tensor|dense)"):
        check_tensors(xs=wrong, mask=None)
    if wrong is not None:
        with pytest.raises(ArgumentError, match=r"^mask is .*; it must be (a tensor|dense)"):
            check_tensors(xs=torch.zeros(1, 2, 3), mask=wrong)


def test_many_mistakes_are_refused_without_the_types_of_the_test_run(tmp_path):
    """The campaign in a process of its own: users have no checks of types but ours."""
    root = Path(__file__).parents[1]
    command = [sys.executable, "-m", "tests.campaign.fuzz_python", "--count", "300", "--jobs", "1"]
    environment = {**os.environ, "PYTHONPATH": f"{root}:{root / 'src'}"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "300 inputs" in done.stdout


def test_a_model_is_asked_for_by_the_class_of_a_task():
    """In a process of its own, without the checks of types of the test run."""
    code = "import elman\ntry: elman.load('m', int)\nexcept elman.errors.ArgumentError as e: print(e)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "load: task is int; it must be a class such as elman.Classifier, or None\n", (
        done.stderr
    )
