"""What a program gives to a public function: held against its annotations, refused in one sentence."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from functools import cache, wraps
from itertools import chain
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from elman.errors import ArgumentError, show_value
from elman.ranges import Number, find_number

F = TypeVar("F", bound=Callable[..., Any])
M = TypeVar("M")

_KINDS: dict[Any, tuple[tuple[Any, ...], str]] = {
    bool: ((bool,), "true or false"),
    int: ((Integral,), "a whole number"),
    float: ((Real,), "a number"),
    str: ((str,), "a string"),
    os.PathLike: ((os.PathLike,), "a path"),
    NoneType: ((NoneType,), "None"),
}


def check_arguments(function: F) -> F:
    """The function, which refuses an argument of another kind, or out of its range, by its name.

    Looked at is what can be told at once: classes and numbers, and unions of them. Texts, lists of them and
    what follows a protocol are the function's own business: `elman.text.arguments` says more of them.
    """
    plain: Any = inspect.unwrap(function)
    names = plain.__code__.co_varnames[: plain.__code__.co_argcount]

    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        expected = _expectations(plain)
        for name, value in chain(zip(names, given, strict=False), named.items()):
            if name in expected:
                expected[name].check(f"{plain.__name__}: {name}", value)
        return function(*given, **named)

    return call  # type: ignore[return-value]


def can_iterate(value: Any) -> bool:
    """Whether it has items; an array of one number only looks so."""
    try:
        iter(value)
    except TypeError:
        return False
    return True


def check_models(models: Any, kind: type[M]) -> list[M]:
    """Several models of one kind."""
    found = list(models) if can_iterate(models) else [models]
    for i, model in enumerate(found):
        if not isinstance(model, kind):
            raise ArgumentError(f"others[{i}] is {show_value(model)}; it must be a {kind.__name__}")
    return found


class Expectation(NamedTuple):
    """The classes that an argument may be of, in words, too; of a number its range."""

    classes: tuple[Any, ...]
    words: tuple[str, ...]
    number: Number | None

    def check(self, name: str, value: Any) -> None:
        """Refuse what is of none of the classes, or out of range."""
        if value is None and NoneType in self.classes:
            return
        fits = isinstance(value, self.classes) and not (self.number and isinstance(value, bool))
        if not fits:
            *most, last = self.words
            kinds = f"{', '.join(most)} or {last}" if most else last
            raise ArgumentError(f"{name} is {show_value(value)}; it must be {kinds}")
        if self.number:
            self.number.check(name, value)


@cache
def _expectations(function: Callable[..., Any]) -> dict[str, Expectation]:
    hints = get_type_hints(function, include_extras=True)
    found = ((name, _expect(kind)) for name, kind in hints.items() if name != "return")
    return {name: expected for name, expected in found if expected}


def _expect(kind: Any) -> Expectation | None:
    """What an annotation asks for; None where that cannot be told by a class."""
    members = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    classes: list[Any] = []
    words: list[str] = []
    for member in members:
        cls = get_args(member)[0] if get_origin(member) is Annotated else get_origin(member) or member
        collection = cls is not Callable and getattr(cls, "__module__", "") == "collections.abc"
        if (
            kind is str
            or cls is Any
            or collection
            or not isinstance(cls, type)
            or getattr(cls, "_is_protocol", False)
        ):
            return None
        some, word = _KINDS.get(cls, ((cls,), f"a {cls.__name__}"))
        classes += some
        words.append(word)
    return Expectation(tuple(classes), tuple(dict.fromkeys(words)), find_number(kind))
