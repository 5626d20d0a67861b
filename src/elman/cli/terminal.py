"""What a person sees: results on stdout, progress on stderr, colours only where they are wanted."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elman.cli.number_type import with_range
from elman.errors import ConfigError, printable
from elman.files.picture_files import PICTURE_FORMATS, plan_picture
from elman.folders.output_folder import parse_folder

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

Command = Callable[..., None]


class FolderPath(click.Path):
    """The path of a folder; an empty one, as an unset variable gives it, is not the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path: Any = super().convert(parse_folder(value), param, ctx)
        return Path(path)


FOLDER = FolderPath(file_okay=False, path_type=Path)


class PicturePath(click.Path):
    """The path of a picture that can be drawn; its ending is its format."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        given: Any = super().convert(value, param, ctx)
        path = Path(given)
        if not path.parent.is_dir():
            raise ConfigError(f"{path}: there is no folder {path.parent}")
        return plan_picture(path)


PICTURE = PicturePath(dir_okay=False, path_type=Path)


def _usable(context: click.Context, parameter: click.Parameter, device: str) -> str:
    if device == "cuda" and not context.resilient_parsing:
        import torch

        if not torch.cuda.is_available():
            raise ConfigError("--device cuda: PyTorch finds no GPU; leave the option out")
    return device


device_option = click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda"]),
    default="auto",
    show_default=True,
    callback=_usable,
    help="Device to compute on; auto: a GPU if there is one.",
)
"""The option of every verb that runs a network."""


def option(spelling: str, help: str, *variable: str, **settings: Any) -> Callable[[Command], Command]:
    """An option as its help spells it, ``--beam K`` with a value K; ``variable`` is its name in the code."""
    flags = [word for word in spelling.split() if word.startswith("-")]
    metavar = next((word for word in spelling.split() if not word.startswith("-")), None)
    settings |= with_range(help, settings.pop("type", None))
    return click.option(*flags, *variable, metavar=metavar, **settings)


def add_options(command: Command, options: Iterable[Callable[[Command], Command]]) -> Command:
    """A command with click's options, which its help lists in this order."""
    for option in reversed([*options]):
        command = option(command)
    return command


overwrite_option = option(
    "--overwrite", "Replace what is in --out, once the new model is complete.", is_flag=True
)
"""The option of every verb that writes a model folder."""

picture_format_option = option(
    "--format", "Format of the plots. [default: png]", type=click.Choice(PICTURE_FORMATS, case_sensitive=False)
)
"""The option of verbs that choose the names of their plots."""


def typed_command() -> str:
    """What was typed, as a shell would take it again."""
    return printable(shlex.join(["elman", *sys.argv[1:]]))


def say(text: str) -> None:
    """One line about what is going on, on stderr."""
    click.echo(text, err=True)


def progress_bar(*columns: ProgressColumn) -> Progress:
    """A progress bar on stderr, with these columns behind it; silent where that is not a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    console.quiet = not console.is_terminal  # before 14, rich ends a bar that nobody sees by a line
    behind = columns or (MofNCompleteColumn(), TimeRemainingColumn())
    bar = TextColumn("{task.description}"), BarColumn()
    return Progress(*bar, *behind, console=console, disable=console.quiet, transient=True)


def print_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    caption: str = "",
    left_columns: Sequence[int] = (0,),
) -> None:
    """A table on stdout: drawn on a terminal, columns of plain text elsewhere."""
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table

        drawn = Table(caption=caption or None, caption_justify="left")
        for i, name in enumerate(header):
            drawn.add_column(name, justify="left" if i in left_columns else "right")
        for row in rows:
            drawn.add_row(*row)
        Console().print(drawn)
        return
    widths = [max(len(line[i]) for line in (header, *rows)) for i in range(len(header))]
    for line in (header, *rows):
        sized = enumerate(zip(line, widths, strict=True))
        cells = (cell.ljust(w) if i in left_columns else cell.rjust(w) for i, (cell, w) in sized)
        click.echo("  ".join(cells).rstrip())
    if caption:
        click.echo(caption)
