"""How far back the units of a model remember."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from elman.cli.terminal import print_table, say

if TYPE_CHECKING:
    from elman.files.picture_files import PictureFolder
    from elman.inspect.memory_horizon import LayerMemory

NAMED = 3  # units with the longest memory that are named


def memory_json(found: Sequence[LayerMemory]) -> list[dict[str, Any]]:
    """The horizon of each unit, and the mean gradient of all by the distance, as JSON can hold them."""
    return [
        {
            "layer": memory.name,
            "units": memory.units,
            "horizons": memory.horizons.tolist(),
            "mean_gradient": memory.relative.mean(0).round(6).tolist(),
        }
        for memory in found
    ]


def show_memory(found: Sequence[LayerMemory]) -> None:
    """A row for each layer and direction, on stdout."""
    import numpy as np

    click.echo("\nmemory: tokens back to which a unit's gradient is at least a tenth of its strongest")
    rows = []
    for memory in found:
        horizons = memory.horizons
        longest = np.argsort(-horizons, kind="stable")[:NAMED]
        units = ", ".join(f"{memory.units[i]} ({horizons[i]})" for i in longest)
        reached = int((horizons == memory.longest).sum())
        middle, most = np.median(horizons), np.percentile(horizons, 90)
        rows.append([memory.name, f"{len(horizons)}", f"{middle:.0f}", f"{most:.0f}", f"{reached}", units])
    header = ["layer", "units", "median", "90 %", "whole text", "longest"]
    print_table(header, rows, left_columns=(0, 5))


def plot_layer_memory(found: Sequence[LayerMemory], out: PictureFolder, *, about: str) -> None:
    """The picture of all layers."""
    from elman.inspect.memory_plot import plot_memory

    path = out.path("memory")
    plot_memory(found, path, about=about)
    say(f"memory: {path}")
