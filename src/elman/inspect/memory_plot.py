"""A picture of how far back the units of each layer remember."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from elman.inspect.memory_horizon import LayerMemory
from elman.inspect.plots import new_figure, save_figure, set_heading

LEAST = 1e-3  # of the strongest gradient: the end of the scale


def plot_memory(layers: Sequence[LayerMemory], path: Path, *, about: str = "") -> None:
    """A heat map for each layer: units down, those with the longest memory last; steps back along."""
    columns = min(2, len(layers))
    fig, axes = new_figure(columns, -(-len(layers) // columns), width=6.2, height=4.2)
    for ax, memory in zip(axes, layers, strict=False):
        order = np.argsort(memory.horizons, kind="stable")
        shown = np.log10(np.maximum(memory.relative[order], LEAST))
        image = ax.imshow(shown, aspect="auto", cmap="viridis", vmin=np.log10(LEAST), vmax=0)
        horizons = memory.horizons[order]
        ax.step([*horizons, horizons[-1]], np.arange(len(order) + 1) - 0.5, color="white", linewidth=1.5)
        bar = fig.colorbar(image, ax=ax, pad=0.02, label="share of the strongest gradient")
        bar.set_ticks([-3, -2, -1, 0], labels=["0.001", "0.01", "0.1", "1"])
        way = "ahead" if memory.direction == "backward" else "back"
        middle = f"median {np.median(horizons):.0f}, longest {horizons[-1]}"
        ax.set_title(f"{memory.name[0].upper()}{memory.name[1:]}: {middle}", fontsize=11)
        ax.set(xlabel=f"tokens {way}", ylabel="units, by how far they remember")
        ax.set_xlim(-0.5, max(10, min(memory.longest, 1.25 * horizons[-1] + 5)) + 0.5)
        ax.set_yticks([])
    for ax in axes[len(layers) :]:
        ax.set_axis_off()
    set_heading(fig, "Memory: how far gradients reach; at the white line a tenth is left", about)
    save_figure(fig, path)
