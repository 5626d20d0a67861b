"""Which numbers an option may be, said at its field: ``layers: LayerCount = 2``.

`check_ranges` refuses any other number; NaN and infinity are in no range. ``elman VERB --help`` shows them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import inf
from numbers import Integral, Real
from types import NoneType
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from elman.errors import check_option

LARGEST: dict[type, float] = {int: 2**63 - 1, float: 1e38}
"""The end of a range that says none: what tensors can hold."""

_KINDS: dict[type, tuple[Any, str]] = {int: (Integral, "a whole number"), float: (Real, "a number")}


@dataclass(frozen=True)
class Range:
    """The numbers from ``low`` to ``high``, without an end that is open."""

    low: float
    high: float | None = None
    open_low: bool = False
    open_high: bool = False

    def __contains__(self, number: Any) -> bool:
        high = inf if self.high is None else self.high
        above = number > self.low if self.open_low else number >= self.low
        return bool(above and (number < high if self.open_high else number <= high))

    def __str__(self) -> str:
        least = f"{'above' if self.open_low else 'at least'} {self.low:,}"
        if self.high is None:
            return least
        if self.open_low == self.open_high:
            first, word = ("between", "and") if self.open_low else ("from", "to")
            return f"{first} {self.low:,} {word} {self.high:,}"
        return f"{least} and {'below' if self.open_high else 'at most'} {self.high:,}"


PositiveInt = Annotated[int, Range(1)]
NonNegativeInt = Annotated[int, Range(0)]
PositiveFloat = Annotated[float, Range(0, open_low=True)]
NonNegativeFloat = Annotated[float, Range(0)]
Probability = Annotated[float, Range(0, 1)]
Rate = Annotated[float, Range(0, 1, open_high=True)]  # of dropout: not everything is lost
Share = Annotated[float, Range(0, 1, open_low=True)]  # of data: something is left
Size = Annotated[int, Range(1, 1_000_000)]  # units of a layer, rows of a batch
OptionalSize = Annotated[int, Range(0, 1_000_000)]  # 0: there is none, or it is another option's
LayerCount = Annotated[int, Range(1, 256)]
BeamWidth = Annotated[int, Range(1, 10_000)]
SampleCount = Annotated[int, Range(1, 10_000)]  # of sequences that are drawn for each example
LengthPenalty = Annotated[float, Range(0, 10)]  # above, length^α leaves what a float can hold
ThreadCount = Annotated[int, Range(0, 512)]  # with 100,000 OpenMP breaks the process
FoldCount = Annotated[int, Range(0, 10_000)]  # 0: no cross-validation
RunCount = Annotated[int, Range(1, 10_000)]  # of trainings, one a seed
Seed = NonNegativeInt


class Number(NamedTuple):
    """A kind of number, ``int`` or ``float``, and its range."""

    kind: type
    range: Range

    def check(self, name: str, value: Any) -> None:
        """Refuse what is no such number: ``lr is nan; it must be above 0``."""
        base, called = _KINDS[self.kind]
        high = self.range.high
        largest = LARGEST[self.kind] if high is None else high
        if isinstance(value, bool) or not isinstance(value, base):
            check_option(name, repr(value), False, f"{called}, {self.range}")
        elif value not in self.range:
            check_option(name, value, False, str(self.range))
        elif value > largest:
            check_option(name, value, False, f"at most {largest:,}")


def find_number(kind: Any) -> Number | None:
    """The kind and range of an annotation such as ``PositiveInt | None`` or ``tuple[PositiveInt, ...]``."""
    inner = get_args(kind)
    if get_origin(kind) is not Annotated:
        return next(filter(None, map(find_number, inner)), None)
    return next((Number(inner[0], note) for note in inner[1:] if isinstance(note, Range)), None)


def check_ranges(config: Any) -> None:
    """Refuse a dataclass with a number that is not in the range of its field; for its ``__post_init__``."""
    cls: Any = type(config)
    for name, number, optional, several in _numbers(cls):
        value = getattr(config, name)
        for item in value if several and isinstance(value, tuple) else (value,):
            if item is not None or not optional:
                number.check(name, item)


@cache
def _numbers(cls: Any) -> list[tuple[str, Number, bool, bool]]:
    """The fields that have a range; whether they may be None instead, or a tuple of such numbers."""
    hints = get_type_hints(cls, include_extras=True).items()
    return [
        (name, number, NoneType in get_args(kind), get_origin(kind) is tuple)
        for name, kind in hints
        if (number := find_number(kind))
    ]
