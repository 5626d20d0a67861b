"""elman evaluate: the task's metrics on a file, its mistakes, and two models side by side."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from elman.cli.adaptation_options import with_adaptation_options
from elman.cli.decoding_options import SEARCH_OPTIONS, DecodingOptions, with_decoding_options
from elman.cli.evaluation_run import EvaluationRun, split_folders
from elman.cli.evaluation_views import EvaluationViews, show_slices, with_view_options
from elman.cli.model_args import cell_option
from elman.cli.terminal import add_options, device_option, print_table
from elman.cli.two_models import evaluate_two
from elman.number_format import format_score
from elman.tasks.registry import TASKS

if TYPE_CHECKING:
    from elman.tasks.results import Report


def with_column_options(command: Callable[..., None]) -> Callable[..., None]:
    """Options for the columns that the tasks read, with the names that they have in training."""
    flags = {name: flag for spec in TASKS.values() for name, flag in spec.flags.items()}
    columns = (f for f in flags.items() if f[1].metavar == "COLUMN")
    return add_options(command, (click.option(n, metavar="COLUMN", help=flag.help) for n, flag in columns))


@click.command(short_help="Score a model on a file, or two models side by side.")
@click.argument("folder", metavar="DIR [DIR]", type=click.Path())
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@with_column_options
@click.option("--encoding", help="Encoding of the files, for example latin-1.")
@click.option(
    "--skip-bad", is_flag=True, default=None, help="Skip rows that cannot be read, or have an empty cell."
)
@with_view_options
@with_adaptation_options
@with_decoding_options(SEARCH_OPTIONS)
@device_option
@cell_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
def evaluate(
    folder: str,
    files: tuple[str, ...],
    ways: dict[str, Any],
    decoding: DecodingOptions,
    device: str,
    as_json: bool,
    views: EvaluationViews,
    **options: Any,
) -> None:
    """Score a model on labelled examples, or a language model on text.

    Files are read as in training: one file, or one of texts and one of labels, tags or targets. For
    several reference translations, give a file each. Two model folders are compared: the difference of
    their scores, its 95 % interval, and how probable such a difference would be by chance.

    \b
    Examples:
      elman evaluate models/topics test.tsv
      elman evaluate models/topics test.tsv --errors mistakes.tsv --slices
      elman evaluate models/topics test.tsv --reliability topics.png
      elman evaluate models/topics models/other test.tsv
      elman evaluate models/pos test.conllu --json
      elman evaluate models/wiki test.txt --cache --set cache.window=3800
      elman evaluate models/en-de test.en test.de --beam 10
    """
    from elman.text.byte_source import hold_pipe

    folders, files = split_folders((folder, *files))
    if not files:
        raise click.UsageError("there are only model folders; add the FILE to evaluate on")
    changed = {key: value for key, value in options.items() if value is not None}
    run = EvaluationRun(tuple(map(hold_pipe, files)), ways, decoding, device, changed)
    if len(folders) > 1:
        views.reject_all()
        evaluate_two(folders, run, as_json=as_json)
        return
    views.check(folders[0], files)
    done = run.judge(folders[0])
    further, report = views.show(done), done.judgement.report
    if as_json:
        click.echo(json.dumps({**report.scores, **report.record, **further}))
    else:
        _show(report)
        show_slices(further.get("slices", []))


def _show(report: Report) -> None:
    for name, value in report.scores.items():
        click.echo(f"{name} {format_score(name, value, report.digits)}")
    for table in report.tables:
        if table.title:
            click.echo(table.title)
        print_table(table.header, table.rows, left_columns=table.left_columns)
    for note in report.notes:
        click.echo(note)
