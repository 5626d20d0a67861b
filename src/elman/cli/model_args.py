"""Arguments that name a model folder or a text file; the model in the one, the lines of the other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import click

from elman.cli.terminal import device_option, say
from elman.errors import ModelError
from elman.tasks.registry import TASKS

T = TypeVar("T")

model_argument = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
text_file_argument = click.argument("file", default="-", type=click.Path(allow_dash=True))


def with_input_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that answers the lines of a file --line-buffered, --encoding and --device."""
    waiting = "Answer each line as soon as it is read, for pipes; slower for many lines."
    command = click.option("--encoding", default="utf-8", show_default=True)(device_option(command))
    return click.option("--line-buffered", is_flag=True, help=waiting)(command)


def chunks(stream: Iterable[T], file: str, most: int, *, line_buffered: bool = False) -> Iterator[list[T]]:
    """Up to ``most`` items of a stream at a time; one by one where a person types or a program waits."""
    typed = file == "-" and sys.stdin.isatty()
    if typed:
        say("type a line, then Enter; Ctrl-D ends")
    iterator, size = iter(stream), 1 if typed or line_buffered else most
    while chunk := list(islice(iterator, size)):
        yield chunk


def load_for_verb(verb: str, folder: Path, device: str) -> Any:
    """The model in a folder, if this verb is for it."""
    from elman import artifact

    spec = TASKS[artifact.read_config(folder)["task"]]
    if verb not in spec.verbs:
        raise ModelError(f"{folder} holds {spec.owner}")
    return artifact.load(folder, device=device)
