"""Flags: keys of a recipe that have an option of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import reduce, wraps
from typing import Any

import click
from click.shell_completion import CompletionItem

from elman.cli.number_type import with_range
from elman.cli.terminal import add_options
from elman.tasks.spec import Flag


def flag_option(name: str, flag: Flag) -> Callable[[Any], Any]:
    """A flag as click wants it; where the value is a file, shells complete it."""
    if flag.type is bool:
        return click.option(name, _variable(name), is_flag=True, default=None, help=flag.help)
    return click.option(
        name,
        _variable(name),
        cls=MultiValueOption if flag.several else None,
        multiple=flag.several,
        metavar=flag.metavar,
        **with_range(flag.help, click.Path() if flag.metavar.startswith("FILE") else flag.type),
        required=flag.required,
    )


class MultiValueOption(click.Option):
    """An option that takes all words up to the next option."""


class SpreadCommand(click.Command):
    """A command without arguments; words after an option that takes several belong to it."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        """``--train a b`` is read as ``--train a --train b``."""
        several = {o for p in self.params if isinstance(p, MultiValueOption) for o in p.opts}
        return super().parse_args(context, list(_repeat_option(arguments, several)))

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        """A further word, which is no option, is a further file."""
        further = [] if incomplete.startswith("-") else [CompletionItem(incomplete, type="file")]
        return further + super().shell_complete(context, incomplete)


def _repeat_option(arguments: list[str], several: set[str]) -> Iterator[str]:
    option, first = "", False
    for argument in arguments:
        if argument.startswith("-") and argument != "-":
            name, joined, _ = argument.partition("=")
            option, first = name if name in several else "", not joined
        else:
            if option and not first:
                yield option
            first = False
        yield argument


def with_recipe_flags(flags: Mapping[str, Flag]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command these flags, before those of the run; it is called with the data of a recipe."""

    def give(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def wrapper(sets: tuple[str, ...], **values: Any) -> None:
            from elman.config import apply_override, set_key

            data: dict[str, Any] = {}
            for name, flag in flags.items():
                value = values.pop(_variable(name))
                if flag.several and len(value) < 2:
                    value = next(iter(value), None)
                if value is not None:
                    data = set_key(data, flag.key.split("."), value, name)
            command(data=reduce(apply_override, sets, data), **values)

        return add_options(wrapper, (flag_option(*named) for named in flags.items()))

    return give


def _variable(name: str) -> str:
    return name.removeprefix("--").replace("-", "_") + "_"
