"""Cells trained one after the other, seed after seed: what they achieved as a table, JSON and a picture."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from pathlib import Path
from statistics import mean, stdev
from typing import Any, Protocol, TypeVar, runtime_checkable

import click

from elman.cli.terminal import print_table, progress_bar, say

R = TypeVar("R", bound="CellResult")


@runtime_checkable
class CellResult(Protocol):
    """What is known of every result."""

    @property
    def cell(self) -> str: ...


def compare_on_tasks(cells: list[str], picture: Path | None, *, as_json: bool, **options: Any) -> None:
    """The memory task and the one with little data."""
    from elman.inspect import comparison

    def run(seed: int, **size: Any) -> Iterable[comparison.ComparisonResult]:
        return comparison.Comparison(seed=seed, **size).run(cells)

    results = run_seeds(run, cells, **options)
    if as_json:
        _print_json(results, seed=options["seed"])
    else:
        lengths = [*results[0].memory_by_length]
        memory = [f"memory {n} %" for n in lengths] if len(lengths) > 1 else ["memory %"]
        rows = [
            [
                name,
                f"{some[0].parameters:,}",
                *(format_spread([r.memory_by_length[n] for r in some], 1) for n in lengths),
                format_spread([r.little_data for r in some], 1),
                f"{mean(r.seconds for r in some):.1f}",
            ]
            for name, some in group_by_cell(results).items()
        ]
        caption = (
            f"memory: chance 12.5 %; little data: chance 50 %; held-out accuracy, {describe_seeds(options)}"
        )
        print_table(["cell", "parameters", *memory, "little data %", "seconds"], rows, caption=caption)
    if picture is not None:
        from elman.inspect.comparison_plots import plot_comparison

        start = comparison.gradient_curves(["elman", "relu"], seed=options["seed"])
        plot_comparison(start, group_by_cell(results), picture)
        say(f"gradients through time: {picture}")


def compare_on_text(
    cells: list[str], picture: Path | None, file: str, *, as_json: bool, **options: Any
) -> None:
    """A language model of characters of each cell."""
    from elman.inspect.text_comparison import TextComparison, TextResult, read_char_text

    text = read_char_text(file)

    def run(seed: int, **size: Any) -> Iterable[TextResult]:
        return TextComparison(seed=seed, **size).run(cells, text)

    results = run_seeds(run, cells, **options)
    known, held_out = text.frequency_bits(), len(text.held_out)
    if as_json:
        about = {"text": file, "held_out": held_out, "frequency_bits": known}
        _print_json(results, seed=options["seed"], **about)
    else:
        rows = [
            [
                name,
                *(f"{n:,}" for n in (some[0].width, some[0].parameters)),
                format_spread([r.bits for r in some], 3),
                f"{mean(r.updates for r in some):,.0f}",
                f"{mean(r.seconds for r in some):.1f}",
            ]
            for name, some in group_by_cell(results).items()
        ]
        caption = f"on the last {held_out:,} characters (by their frequencies alone: {known:.3f}), "
        caption += describe_seeds(options)
        print_table(
            ["cell", "width", "parameters", "bits/character", "updates", "seconds"], rows, caption=caption
        )
    if picture is not None:
        from elman.inspect.comparison_plots import plot_text_comparison

        plot_text_comparison(group_by_cell(results), picture, text=Path(file).name)
        say(f"learning curves: {picture}")


def run_seeds(
    run: Callable[..., Iterable[R]],
    cells: Sequence[str],
    *,
    seeds: int,
    seed: int,
    minutes: float | None,
    **size: Any,
) -> list[R]:
    """All results, those of a seed after those of the one before; ``minutes`` are for all of them."""
    results: list[R] = []
    with progress_bar() as bar:
        task = bar.add_task("training", total=seeds * len(cells))
        for one in range(seed, seed + seeds):
            for result in run(one, minutes=minutes and minutes / seeds, **size):
                results.append(result)
                bar.update(task, advance=1, description=f"{result.cell} done")
    return results


def group_by_cell(results: Sequence[Any]) -> dict[str, list[Any]]:
    """The results of each cell, one a seed."""
    names = dict.fromkeys(result.cell for result in results)
    return {name: [r for r in results if r.cell == name] for name in names}


def format_spread(values: Sequence[float], digits: int) -> str:
    """The mean, and where there are several values their standard deviation."""
    if not all(map(isfinite, values)):
        return "diverged"
    spread = f" ± {stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{mean(values):.{digits}f}{spread}"


def describe_seeds(options: dict[str, Any]) -> str:
    return "one seed" if options["seeds"] == 1 else f"mean ± standard deviation of {options['seeds']} seeds"


def _print_json(results: Sequence[Any], **about: Any) -> None:
    rows = [dataclasses.asdict(result) for result in results]
    for row in rows:
        row |= {"norms": row["norms"].tolist()} if "norms" in row else {}
    print_json({**about, "cells": rows})


def print_json(value: Any) -> None:
    """One JSON object; what diverged is null, for JSON has no infinity."""
    click.echo(json.dumps(_without_infinities(value), ensure_ascii=False))


def _without_infinities(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_infinities(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [*map(_without_infinities, value)]
    return None if isinstance(value, float) and not isfinite(value) else value
