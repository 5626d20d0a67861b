"""Two models side by side on the same file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from elman.cli.evaluation_run import EvaluationRun
from elman.cli.terminal import print_table
from elman.errors import ConfigError
from elman.number_format import format_score
from elman.tasks.registry import TASKS

if TYPE_CHECKING:
    from elman.inspect.model_comparison import ModelComparison


def evaluate_two(folders: Sequence[Path], run: EvaluationRun, *, as_json: bool) -> None:
    """Print the scores of both, and whether they differ."""
    from elman.inspect.model_comparison import compare_models

    if len(folders) > 2:
        raise ConfigError(f"two models are compared at a time, not {len(folders)}")
    _check_tasks(folders)
    a, b = (run.judge(folder).judgement for folder in folders)
    found = compare_models(a, b)
    if as_json:
        click.echo(json.dumps(_record(found, folders)))
    else:
        _show(found, folders)


def _check_tasks(folders: Sequence[Path]) -> None:
    from elman import artifact

    one, other = (TASKS[artifact.read_config(folder)["task"]].title for folder in folders)
    if one != other:
        raise ConfigError(f"{folders[0]} holds {one}, {folders[1]} {other}: models of one task can be compared")


def _record(found: ModelComparison, folders: Sequence[Path]) -> dict[str, object]:
    scores = {name: result._asdict() for name, result in found.scores.items()}
    right = {} if found.only_a is None else {"only_a_right": found.only_a, "only_b_right": found.only_b}
    note = {"note": found.note} if found.note else {}
    return {
        "a": str(folders[0]),
        "b": str(folders[1]),
        found.unit: found.count,
        **right,
        "scores": scores,
        **note,
    }


def _show(found: ModelComparison, folders: Sequence[Path]) -> None:
    click.echo(f"A: {folders[0]}\nB: {folders[1]}\n{found.unit} {found.count:,}")
    rows = []
    for name, r in found.scores.items():
        a, b, low, high = (format_score(name, value) for value in (r.a, r.b, r.low, r.high))
        signed = f"{'+' if r.difference > 0 else ''}{format_score(name, r.difference)}"
        rows.append([name, a, b, signed, f"{low} to {high}", "< 0.001" if r.p < 0.001 else f"{r.p:.3f}"])
    print_table(["", "A", "B", "B - A", "95 % interval", "p"], rows)
    if found.only_a is not None:
        click.echo(f"only A is right: {found.only_a:,}, only B: {found.only_b:,}")
    if found.note:
        click.echo(found.note)
