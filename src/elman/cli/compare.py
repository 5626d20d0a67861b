"""elman compare: cells side by side."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from elman.cli.terminal import PICTURE, option, picture_format_option, print_table, progress_bar, say
from elman.picture_files import plan_picture
from elman.ranges import Seed

if TYPE_CHECKING:
    from elman.inspect.comparison import ComparisonResult


@click.command(short_help="Train cells side by side: memory, little data, gradients.")
@click.argument("cells", nargs=-1, metavar="[CELL]...")
@option("--seed N", "Random seed of weights and examples.", type=Seed, default=0, show_default=True)
@option("--picture FILE", "Where to plot the gradients. [default: compare.png]", type=PICTURE)
@picture_format_option
@click.option("--no-picture", is_flag=True, help="Do not plot.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
def compare(
    cells: tuple[str, ...], seed: int, picture: Path | None, format: str | None, no_picture: bool, as_json: bool
) -> None:
    """Compare cells on a long-range memory task and on a task with little data.

    Without names: elman, gru and lstm. Each cell is trained twice, in about ten seconds on two cores: to
    remember three variables over fifty symbols of noise, and to tell words from reversed words with 400
    examples. The picture shows how the gradient fades or grows through time.

    \b
    Examples:
      elman compare
      elman compare elman relu gru lstm peephole-lstm --picture cells.pdf
    """
    import torch

    from elman.inspect.comparison import Comparison, gradient_curves

    path = None if no_picture else plan_picture(picture or Path(f"compare.{format or 'png'}"), format)
    torch.set_num_threads(1)  # nets this small only lose by sharing their steps
    names = list(cells or ("elman", "gru", "lstm"))
    results: list[ComparisonResult] = []
    with progress_bar() as bar:
        task = bar.add_task("training", total=len(names))
        for result in Comparison(seed=seed).run(names):
            results.append(result)
            bar.update(task, advance=1, description=f"{result.cell} done")
    if as_json:
        rows = [{**dataclasses.asdict(r), "norms": r.norms.tolist()} for r in results]
        click.echo(json.dumps({"seed": seed, "cells": rows}))
    else:
        print_table(
            ["cell", "parameters", "memory %", "little data %", "seconds"],
            [
                [r.cell, f"{r.parameters:,}", f"{r.memory:.1f}", f"{r.little_data:.1f}", f"{r.seconds:.1f}"]
                for r in results
            ],
            caption="memory: chance 12.5 %; little data: chance 50 %; held-out accuracy, one seed",
        )
    if path is not None:
        from elman.inspect.plots import plot_gradients

        start = gradient_curves(["elman", "relu"], seed=seed)
        plot_gradients(start, {r.cell: r.norms for r in results}, path)
        say(f"gradients through time: {path}")
