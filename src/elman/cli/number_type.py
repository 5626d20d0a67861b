"""Numbers of the command line: read by click, held to the range that their type says."""

from __future__ import annotations

from typing import Any

import click

from elman.errors import ConfigError, quote
from elman.ranges import Number, find_number

_LONGEST = 100  # characters of a number


class NumberType(click.ParamType):  # type: ignore[type-arg]  # older versions of click take none
    """A number such as ``PositiveInt``; one that is out of range is refused under the name of its option."""

    def __init__(self, number: Number) -> None:
        self.number = number
        self.reader = click.INT if number.kind is int else click.FLOAT
        self.name = self.reader.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        name = "/".join(param.opts) if param else self.name
        if isinstance(value, str) and len(value) > _LONGEST:
            raise ConfigError(f"{name} is {quote(value)}; it must be {self.number.range}")
        found = self.reader.convert(value, param, ctx)
        self.number.check(name, found)
        return found


def with_range(help: str, kind: Any) -> dict[str, Any]:
    """The help and the type of an option, as click wants them; of a number, both know its range."""
    number = find_number(kind)
    if number:
        return {"help": f"{help} [{number.range}]", "type": NumberType(number)}
    return {"help": help, "type": kind}
