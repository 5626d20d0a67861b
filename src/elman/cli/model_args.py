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
CELL_KEY, PRECISION_KEY = "elman.cell", "elman.precision"  # of what a command was given

model_argument = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
text_file_argument = click.argument("file", default="-", type=click.Path(allow_dash=True))


def _keep_cell(context: click.Context, parameter: click.Parameter, given: str | None) -> None:
    context.meta[CELL_KEY] = given


cell_option = click.option(
    "--cell",
    metavar="FILE.py:NAME",
    callback=_keep_cell,
    expose_value=False,
    help="The code of the model's cell, where that is no formula: it is not in DIR.",
)
"""The option of every verb that loads a model; `load_model` reads it."""


def _keep_precision(context: click.Context, parameter: click.Parameter, given: str) -> None:
    context.meta[PRECISION_KEY] = given


precision_option = click.option(
    "--precision",
    type=click.Choice(["float32", "bfloat16"]),
    default="float32",
    show_default=True,
    callback=_keep_precision,
    expose_value=False,
    help="bfloat16 rounds matrices to 8 bits: faster on a CPU, and now and then another answer.",
)
"""The option of the verbs of language models; `load_model` reads it."""


def with_input_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that answers the lines of a file --line-buffered, --encoding, --device and --cell."""
    waiting = "Answer each line as soon as it is read, for pipes; slower for many lines."
    command = device_option(cell_option(command))
    command = click.option("--encoding", default="utf-8", show_default=True)(command)
    return click.option("--line-buffered", is_flag=True, help=waiting)(command)


def chunks(stream: Iterable[T], file: str, most: int, *, line_buffered: bool = False) -> Iterator[list[T]]:
    """Up to ``most`` items of a stream at a time; one by one where a person types or a program waits."""
    typed = file == "-" and sys.stdin.isatty()
    if typed:
        say("type a line, then Enter; Ctrl-D ends")
    iterator, size = iter(stream), 1 if typed or line_buffered else most
    while chunk := list(islice(iterator, size)):
        yield chunk


def load_model(folder: Path, device: str = "cpu") -> Any:
    """The model in a folder, with the cell that the user gives where it needs one."""
    from elman import artifact
    from elman.devices import choose_device, describe_choice

    chosen = choose_device(device)
    if device == "auto" and (said := describe_choice(chosen)):
        say(f"{said}; --device cpu takes the CPU")
    precision = click.get_current_context().meta.get(PRECISION_KEY, "float32")
    return artifact.load(folder, device=chosen, precision=precision, cell=given_cell())


def given_cell() -> str | None:
    """What ``--cell`` of the running command says."""
    given: str | None = click.get_current_context().meta.get(CELL_KEY)
    return given


def load_for_verb(verb: str, folder: Path, device: str) -> Any:
    """The model in a folder, if this verb is for it."""
    from elman import artifact

    spec = TASKS[artifact.read_config(folder)["task"]]
    if verb not in spec.verbs:
        raise ModelError(f"{folder} holds {spec.owner}")
    return load_model(folder, device)
