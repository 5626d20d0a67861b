"""What a person sees: results on stdout, progress on stderr, colours only where they are wanted."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from elman.errors import ConfigError

if TYPE_CHECKING:
    from rich.progress import Progress


INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""


def _usable(context: click.Context, parameter: click.Parameter, device: str) -> str:
    if device == "cuda" and not context.resilient_parsing:
        import torch

        if not torch.cuda.is_available():
            raise ConfigError("--device cuda: PyTorch finds no GPU here; leave the option out")
    return device


on_device = click.option(
    "--device",
    type=click.Choice(["cpu", "cuda"]),
    default="cpu",
    show_default=True,
    callback=_usable,
    help="Where to compute.",
)
"""The option of every verb that runs a network."""


def say(text: str) -> None:
    """One line about what is going on, on stderr."""
    click.echo(text, err=True)


def progress() -> Progress:
    """A progress bar on stderr; silent where that is not a terminal."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str = "") -> None:
    """A table on stdout: drawn on a terminal, columns of plain text elsewhere."""
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table

        drawn = Table(caption=caption or None, caption_justify="left")
        for i, name in enumerate(header):
            drawn.add_column(name, justify="right" if i else "left")
        for row in rows:
            drawn.add_row(*row)
        Console().print(drawn)
        return
    widths = [max(len(line[i]) for line in (header, *rows)) for i in range(len(header))]
    for line in (header, *rows):
        cells = [
            line[0].ljust(widths[0]),
            *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True)),
        ]
        click.echo("  ".join(cells).rstrip())
    if caption:
        click.echo(caption)
