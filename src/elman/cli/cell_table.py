"""One table of cells with an equal budget: a text, and sequences longer than those of training."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elman.cli.comparison_run import describe_seeds, format_spread, group_by_cell, print_json, run_seeds
from elman.cli.terminal import print_table, say

if TYPE_CHECKING:
    from elman.inspect.length_comparison import LengthResult
    from elman.inspect.text_comparison import TextResult

_TEXT = 0.5  # of the minutes


def compare_on_lengths(
    cells: list[str],
    picture: Path | None,
    file: str,
    *,
    length: int,
    minutes: float | None,
    lr: float | None,
    as_json: bool,
    **options: Any,
) -> None:
    """A language model of characters, parity and copying of each cell."""
    from elman.inspect.length_comparison import LengthComparison
    from elman.inspect.text_comparison import TextComparison, read_char_text

    text = read_char_text(file)
    rates: Any = ({}, {}) if lr is None else ({"lr": lr}, {"lr": lr / 2})

    def read(seed: int, **size: Any) -> Iterable[TextResult]:
        return TextComparison(seed=seed, **rates[0], **size).run(cells, text)

    def count(seed: int, **size: Any) -> Iterable[LengthResult]:
        return LengthComparison(length=length, seed=seed, **rates[1], **size).run(cells)

    texts = run_seeds(read, cells, minutes=minutes and _TEXT * minutes, **options)
    lengths = run_seeds(count, cells, minutes=minutes and (1 - _TEXT) * minutes, **options)
    if as_json:
        about = {"text": file, "held_out": len(text.held_out), "seed": options["seed"]}
        rows = {"cells": [*map(dataclasses.asdict, texts)], "lengths": [*map(dataclasses.asdict, lengths)]}
        print_json(about | rows)
    else:
        show_cell_table(group_by_cell(texts), group_by_cell(lengths), describe_seeds(options))
    if picture is not None:
        from elman.inspect.comparison_plots import plot_cell_table

        plot_cell_table({Path(file).name: group_by_cell(texts)}, group_by_cell(lengths), picture)
        say(f"cells side by side: {picture}")


def show_cell_table(
    texts: Mapping[str, Sequence[TextResult]], lengths: Mapping[str, Sequence[LengthResult]], seeds: str
) -> None:
    """The best cell on the text first."""
    tested = {task: [*by] for task, by in next(iter(lengths.values()))[0].right.items()}
    heads = [f"{task} {n} %" for task, some in tested.items() for n in some]
    rows = [
        [
            name,
            *(f"{n:,}" for n in (some[0].width, some[0].parameters)),
            format_spread([r.bits for r in some], 3),
            f"{sum(r.updates for r in some) / len(some):,.0f}",
            *(
                format_spread([r.right[task][n] for r in lengths[name]], 1)
                for task, each in tested.items()
                for n in each
            ),
        ]
        for name, some in sorted(texts.items(), key=lambda pair: min(r.bits for r in pair[1]))
    ]
    caption = f"parity: chance 50 %; copying: chance 12.5 %; {seeds}"
    print_table(["cell", "width", "parameters", "bits/character", "updates", *heads], rows, caption=caption)
