"""A group of commands in an order of its own, whose options of data are given once."""

from __future__ import annotations

from collections import Counter

import click

_DATA = {"--train", "--valid", "--test", "--unlabelled"}


class OrderedGroup(click.Group):
    """A group that lists its commands in the order in which one needs them.

    Of an option that is given twice the last value counts, as usual. Data are refused then: the first file of
    ``--train a --train b`` would be left out without a word.
    """

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is called, and what is left for it."""
        name, command, rest = super().resolve_command(context, arguments)
        if command is not None and not context.resilient_parsing:
            _check_once(command, click.Context(command, context, name, **command.context_settings), rest)
        return name, command, rest


def _check_once(command: click.Command, context: click.Context, arguments: list[str]) -> None:
    try:
        given = Counter(command.make_parser(context).parse_args([*arguments])[2])
    except click.UsageError:
        return  # the command says what is wrong
    for option, times in given.items():
        if times > 1 and not _DATA.isdisjoint(option.opts) and not option.multiple:
            raise click.UsageError(f"{'/'.join(option.opts)} is given {times} times: give it once", context)
