"""Every number that a user can give has a range, and what is not in it is refused in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from math import inf, nan
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch import Generator

from elman.cli.app import elman
from elman.cli.number_type import NumberType
from elman.decoding import Beam, Sample
from elman.errors import ConfigError
from elman.generation import GenerationConfig, Sampling
from elman.generation.adapted_lm import AdaptationConfig
from elman.inspect.comparison import Comparison
from elman.pipeline.recipe import recipe_class
from elman.ranges import PositiveFloat, PositiveInt, Range, Rate, check_ranges, find_number
from elman.tasks.registry import TASKS
from elman.tasks.seq2seq.search import DecodingConfig

OPTIONS = (AdaptationConfig, Beam, Comparison, DecodingConfig, GenerationConfig, Sample, Sampling)


@dataclass(frozen=True)
class Some:
    count: PositiveInt = 1
    rate: Rate | None = None
    sizes: tuple[PositiveInt, ...] = ()
    scale: PositiveFloat = 1.0

    def __post_init__(self) -> None:
        check_ranges(self)


def config_classes(kind: Any) -> Iterator[Any]:
    """A dataclass, and those of its fields, wherever they stand in a type."""
    if isinstance(kind, type) and is_dataclass(kind):
        yield kind
        for hint in get_type_hints(kind, include_extras=True).values():
            yield from config_classes(hint)
    for inner in get_args(kind):
        yield from config_classes(inner)


def all_classes() -> list[Any]:
    roots = (*map(recipe_class, TASKS), *OPTIONS)
    return [*dict.fromkeys(cls for root in roots for cls in config_classes(root))]


def bare_numbers(kind: Any) -> bool:
    """Whether a type has an int or a float that says no range."""
    if kind in (int, float):
        return True
    return find_number(kind) is None and any(map(bare_numbers, get_args(kind)))


@pytest.mark.parametrize("cls", all_classes(), ids=lambda cls: cls.__name__)
def test_every_number_of_every_config_has_a_range(cls: Any) -> None:
    hints = get_type_hints(cls, include_extras=True)
    assert [f.name for f in fields(cls) if bare_numbers(hints[f.name])] == []


@pytest.mark.parametrize("cls", all_classes(), ids=lambda cls: cls.__name__)
def test_no_config_takes_a_number_that_is_out_of_range(cls: Any) -> None:
    hints = get_type_hints(cls, include_extras=True)
    numbers = {f.name: number for f in fields(cls) if (number := find_number(hints[f.name]))}
    for name, number in numbers.items():
        bads: tuple[float, ...] = (10**40, -(10**40)) if number.kind is int else (nan, inf, -inf, 1e300)
        for bad in bads:
            if number.range.high == inf and bad > 0:
                continue
            value = (bad,) if get_origin(hints[name]) is tuple else bad
            needed = {"generator": Generator()} if cls is Sample else {}
            with pytest.raises(ConfigError, match=f"^{name} is .*; it must be "):
                cls(**needed, **{name: value})


def every_option(command: click.Command, path: str = "elman") -> Iterator[tuple[str, click.Parameter]]:
    for parameter in command.params:
        yield f"{path} {parameter.name}", parameter
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            inner = command.get_command(click.Context(command), name)
            assert inner
            yield from every_option(inner, f"{path} {name}")


def test_every_number_of_the_command_line_has_a_range() -> None:
    bare = (click.types.IntParamType, click.types.FloatParamType)
    found = dict(every_option(elman))
    assert [name for name, option in found.items() if isinstance(option.type, bare)] == []
    assert any(isinstance(option.type, NumberType) for option in found.values())


@pytest.mark.parametrize("task", TASKS)
def test_a_flag_has_the_range_of_its_key(task: str) -> None:
    for flag in TASKS[task].flags.values():
        kind: Any = recipe_class(task)
        for part in flag.key.split("."):
            kind = get_type_hints(kind, include_extras=True)[part]
        assert find_number(flag.type) == find_number(kind), flag.key


def test_help_says_the_range(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        elman(["train", "classifier", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "Maximum number of epochs. [at least 0]" in said
    assert "Dropout rate. [at least 0 and below 1]" in said


@pytest.mark.parametrize("threads", ["-1", "100000"])
def test_threads_that_would_break_the_process_are_refused(threads: str) -> None:
    said = rf"--threads is {threads}; it must be from 0 to 512"
    with pytest.raises(ConfigError, match=said):
        elman(["train", "classifier", "--train", "x", "--out", "y", "--threads", threads])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"count": 0}, "count is 0; it must be at least 1"),
        ({"count": 1.5}, "count is 1.5; it must be a whole number, at least 1"),
        ({"count": None}, "count is None; it must be a whole number, at least 1"),
        ({"count": 2**63}, f"count is {2**63}; it must be at most {2**63 - 1:,}"),
        ({"rate": 1}, "rate is 1; it must be at least 0 and below 1"),
        ({"sizes": (3, 0)}, "sizes is 0; it must be at least 1"),
        ({"scale": 1e39}, "scale is 1e+39; it must be at most 1e+38"),
    ],
)
def test_what_is_out_of_range_is_said_with_its_range(given: dict[str, Any], expected: str) -> None:
    with pytest.raises(ConfigError) as error:
        Some(**given)
    assert str(error.value) == expected


def test_none_stands_for_another_option_only_where_the_type_says_so() -> None:
    assert Some(rate=None).rate is None
    with pytest.raises(ConfigError, match="scale is None"):
        Some(scale=None)  # type: ignore[arg-type]


@given(
    low=st.integers(-9, 9),
    size=st.integers(1, 9),
    number=st.floats(-20, 20),
    ends=st.tuples(*[st.booleans()] * 2),
)
def test_an_open_end_is_out_and_a_closed_one_is_in(
    low: int, size: int, number: float, ends: tuple[bool, bool]
) -> None:
    some = Range(low, low + size, open_low=ends[0], open_high=ends[1])
    assert (low in some, low + size in some) == (not ends[0], not ends[1])
    if number not in (low, low + size):
        assert (number in some) == (low < number < low + size)


@pytest.mark.parametrize(
    ("some", "said"),
    [
        (Range(1), "at least 1"),
        (Range(0, open_low=True), "above 0"),
        (Range(0, 1), "from 0 to 1"),
        (Range(0, 1, open_low=True, open_high=True), "between 0 and 1"),
        (Range(0, 1, open_high=True), "at least 0 and below 1"),
        (Range(0, 1000, open_low=True), "above 0 and at most 1,000"),
    ],
)
def test_a_range_is_said_as_people_say_it(some: Range, said: str) -> None:
    assert str(some) == said


def test_a_number_is_found_in_unions_and_tuples() -> None:
    inner = Annotated[int, Range(2)]
    for kind in (inner, inner | None, tuple[inner, ...]):
        found = find_number(kind)
        assert found
        assert found.range == Range(2)
    assert find_number(int) is None


@pytest.mark.parametrize("digits", ["9" * 4000, "9" * 5000])
def test_a_number_of_too_many_digits_is_refused_in_a_short_sentence(digits: str) -> None:
    with pytest.raises(ConfigError, match=r"^--epochs is '9{60}'…; it must be at least 0$"):
        elman(["train", "classifier", "--train", "x", "--out", "y", "--epochs", digits], standalone_mode=False)
    with pytest.raises(ConfigError) as error:
        Some(count=int("9" * 4000))
    assert len(str(error.value)) < 300
