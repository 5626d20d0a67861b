"""Numbers of the command line with commas between them: ``10,20,50``."""

from __future__ import annotations

from typing import Any

import click

from elman.errors import ConfigError, quote


class NumberList(click.ParamType):  # type: ignore[type-arg]  # older versions of click take none
    """Whole numbers of at least 1, in the order in which they are typed."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        name = "/".join(param.opts) if param else self.name
        parts = [part.strip() for part in value.split(",")]
        if not all(part.isascii() and part.isdigit() and 0 < int(part) < 2**31 for part in parts):
            raise ConfigError(f"{name} is {quote(value)}; it must be whole numbers, as in 10,20,50")
        return tuple(map(int, parts))
