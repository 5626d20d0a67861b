"""What Tab completes: verbs, tasks and recipes."""

from __future__ import annotations

from glob import escape, glob

import click
from click.shell_completion import CompletionItem, get_completion_class

VARIABLE = "_ELMAN_COMPLETE"  # click looks for it by this name


class OrderedGroup(click.Group):
    """A group that lists its commands in the order in which one needs them."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.commands)


def print_completion(context: click.Context, parameter: click.Parameter, shell: str | None) -> None:
    """Print the script that a shell is to evaluate, and end."""
    kind = get_completion_class(shell) if shell and not context.resilient_parsing else None
    if kind is not None:
        click.echo(kind(context.command, {}, "elman", VARIABLE).source())
        context.exit()


def recipes(beginning: str) -> list[CompletionItem]:
    """Recipe files whose path begins so, also in the folders whose name does."""
    begun = escape(beginning)
    return [CompletionItem(path) for path in sorted(glob(f"{begun}*.toml") + glob(f"{begun}*/*.toml"))]
