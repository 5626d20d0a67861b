"""What elman evaluate shows beside the scores: mistakes, slices, a reliability diagram."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from elman.cli.evaluation_run import Evaluated
from elman.cli.output_file import check_output
from elman.cli.terminal import PICTURE, add_options, option, print_table, say
from elman.errors import ConfigError
from elman.number_format import format_score
from elman.tasks.registry import TASKS

ERRORS = "Write the mistakes to FILE (.tsv, .csv, .jsonl), the surest first, with the tokens that weighed most."
SLICES = "Also score the quarters of the data by length, and by the share of unseen words."
RELIABILITY = "Draw how often answers are right against how sure they are (.png, .svg, .pdf)."


@dataclass(frozen=True)
class EvaluationViews:
    """What to show beside the scores."""

    errors: Path | None
    slices: bool
    reliability: Path | None

    def reject_all(self) -> None:
        """Refuse what is for one model."""
        if self.errors or self.slices or self.reliability:
            message = "--errors, --slices and --reliability are for one model; leave the other folder out"
            raise ConfigError(message)

    def check(self, folder: Path, sources: Sequence[str]) -> None:
        """Refuse, before any work, a file that could not be written in the end, and one of the sources."""
        if self.errors:
            check_output("--errors", self.errors, *sources)
            _check_errors(folder, self.errors)

    def show(self, done: Evaluated) -> dict[str, Any]:
        """Write the file that was asked for; what there is to print, as --json says it."""
        if self.errors:
            _write_errors(done, self.errors)
        if self.reliability:
            _draw_reliability(done, self.reliability)
        return {"slices": _slice_records(done)} if self.slices else {}


def with_view_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command --errors, --slices and --reliability, which arrive as ``views``."""

    @wraps(command)
    def wrapper(errors: Path | None, slices: bool, reliability: Path | None, **values: Any) -> None:
        command(views=EvaluationViews(errors, slices, reliability), **values)

    options = (
        option("--errors FILE", ERRORS, type=click.Path(dir_okay=False, path_type=Path)),
        option("--slices", SLICES, is_flag=True),
        option("--reliability FILE", RELIABILITY, type=PICTURE),
    )
    return add_options(wrapper, options)


def _check_errors(folder: Path, path: Path) -> None:
    from elman.artifact import read_config
    from elman.inspect.mistake_file import check_mistake_file

    check_mistake_file(path)
    spec = TASKS[read_config(folder)["task"]]
    if not spec.load().can_be_wrong:
        raise ConfigError(f"{spec.title} has no wrong answers; elman score shows what surprised it")


def _write_errors(done: Evaluated, path: Path) -> None:
    from elman.inspect.mistake_file import write_mistakes
    from elman.inspect.mistakes import explain_mistakes

    mistakes = explain_mistakes(done.model, done.judgement)
    write_mistakes(mistakes, path)
    explained = sum(one.why is not None for one in mistakes)
    some = "" if explained == len(mistakes) else f", {explained:,} of them explained"
    say(f"{len(mistakes):,} mistakes{some}: {path}")


def _draw_reliability(done: Evaluated, path: Path) -> None:
    from elman.inspect.reliability_diagram import plot_reliability

    plot_reliability(done.model.confidences(done.dataset), path)
    say(f"reliability: {path}")


def _slice_records(done: Evaluated) -> list[dict[str, Any]]:
    from elman.inspect.slices import score_slices

    return [{"by": s.by, "slice": s.name, "count": s.count, **s.scores} for s in score_slices(done.judgement)]


def show_slices(slices: list[dict[str, Any]]) -> None:
    """A table for each way to slice."""
    for by in dict.fromkeys(one["by"] for one in slices):
        some = [one for one in slices if one["by"] == by]
        scores = [name for name in some[0] if name not in ("by", "slice", "count")]
        rows = [
            [one["slice"], f"{one['count']:,}", *(format_score(name, one[name]) for name in scores)]
            for one in some
        ]
        click.echo(f"by {by}")
        print_table(["", "n", *scores], rows)
