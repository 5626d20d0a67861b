"""Answers to the lines of a file, as text or JSON, with where the model looked."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elman.cli.decoding_options import DecodingOptions
from elman.cli.model_args import chunks
from elman.cli.terminal import say
from elman.errors import ConfigError

if TYPE_CHECKING:
    from elman.tasks.base import Task
    from elman.tasks.results import Alignment

CHUNK = 512  # lines that are answered together


def print_answers(
    model: Task, file: str, decoding: DecodingOptions, *, device: str, line_buffered: bool, **options: Any
) -> None:
    """Print an answer to each line of a file; options are those of `PredictOptions`."""
    from elman.inspect.alignment import show_alignment
    from elman.tasks.base import PredictOptions

    some = partial(chunks, file=file, most=CHUNK, line_buffered=line_buffered)
    asked = PredictOptions(
        some,
        n_best=decoding.given.get("n_best", 1),
        decoding=decoding.overrides,
        others=decoding.others(device),
        align=bool({"attention", "show_attention"} & decoding.given.keys()),
        **options,
    )
    for number, answer in enumerate(model.predict_file(file, asked), 1):
        if answer.alignment and "attention" in decoding.given:
            _draw(answer.alignment, decoding.given["attention"], number)
        shown = answer.alignment if "show_attention" in decoding.given else None
        if asked.as_json:
            looked = {"attention": shown._asdict() | {"weights": shown.weights.tolist()}} if shown else {}
            click.echo(json.dumps({**answer.record, **looked}, ensure_ascii=False))
            continue
        click.echo(answer.line, nl=not isinstance(answer.line, bytes))
        if shown:
            click.echo(f"{show_alignment(shown.weights.numpy(), shown.source, shown.target)}\n")


def _draw(alignment: Alignment, path: Path, number: int) -> None:
    from elman.inspect.alignment import plot_alignment

    if number > 1:
        path = path.with_stem(f"{path.stem}-{number}")
    try:
        plot_alignment(alignment.weights.numpy(), alignment.source, alignment.target, path)
    except OSError as error:
        raise ConfigError(f"--attention: {path} cannot be written ({error.strerror})") from None
    say(f"attention of line {number}: {path}")
