"""elman evaluate: the task's metrics on a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elman.cli.adaptation_options import with_adaptation_options
from elman.cli.decoding_options import SEARCH_OPTIONS, DecodingOptions, with_decoding_options
from elman.cli.model_args import model_argument
from elman.cli.terminal import add_options, device_option, print_table, progress_bar
from elman.errors import ConfigError
from elman.tasks.registry import TASKS

if TYPE_CHECKING:
    from elman.tasks.results import Report

COUNTS = ("examples", "tokens", "sentences")


def with_column_options(command: Callable[..., None]) -> Callable[..., None]:
    """Options for the columns that the tasks read, with the names that they have in training."""
    flags = {name: flag for spec in TASKS.values() for name, flag in spec.flags.items()}
    columns = (f for f in flags.items() if f[1].metavar == "COLUMN")
    return add_options(command, (click.option(n, metavar="COLUMN", help=flag.help) for n, flag in columns))


@click.command(short_help="Score a model on a file.")
@model_argument
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@with_column_options
@click.option("--encoding", help="Encoding of the files, for example latin-1.")
@with_adaptation_options
@with_decoding_options(SEARCH_OPTIONS)
@device_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
def evaluate(
    folder: Path,
    files: tuple[str, ...],
    ways: dict[str, Any],
    decoding: DecodingOptions,
    device: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Score a model on labelled examples, or a language model on text.

    Files are read as in training: one file, or one of texts and one of labels, tags or targets. For
    several reference translations, give a file each.

    \b
    Examples:
      elman evaluate models/topics test.tsv
      elman evaluate models/pos test.conllu --json
      elman evaluate models/wiki test.txt --cache --set cache.window=3800
      elman evaluate models/en-de test.en test.de --beam 10
    """
    from elman import artifact
    from elman.config import build_config

    config = artifact.read_config(folder)
    name, task = config["task"], TASKS[config["task"]].load()
    data = build_config(type(task.defaults.data), config["data"])
    for way in ways:
        if way not in task.evaluate_options:
            raise ConfigError(f"--{way} is not for a {name}")
    decoding.reject_unknown(name, task.evaluate_options)
    changed = {key: value for key, value in options.items() if value is not None}
    for key in changed:
        if not hasattr(data, key):
            raise ConfigError(f"--{key} is not for a {name}")
    model = artifact.load(folder, device=device)
    examples = model.read(replace(data, **changed), files if len(files) > 1 else files[0])
    dataset = model.encode(examples)
    others = {"others": found} if (found := decoding.others(device)) else {}
    with _counting() as progress:
        report = model.report(dataset, progress, **ways, **decoding.overrides, **others)
    if as_json:
        click.echo(json.dumps({**report.scores, **report.record}))
    else:
        _show(report)


def _show(report: Report) -> None:
    for name, value in report.scores.items():
        click.echo(f"{name} {value:.{0 if name in COUNTS else report.digits}f}")
    for table in report.tables:
        if table.title:
            click.echo(table.title)
        print_table(table.header, table.rows)
    for note in report.notes:
        click.echo(note)


@contextmanager
def _counting() -> Iterator[Callable[[str, int, int | None], None]]:
    """A progress bar that is begun when there is something to count."""
    with progress_bar() as bar:
        tasks: dict[str, int] = {}

        def count(what: str, done: int, total: int | None) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done)  # type: ignore[arg-type]

        yield count
