"""Pictures as PNG files; matplotlib (the extra ``plot``) is imported when one is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from elman.errors import ModelError
from elman.inspect.gradients import Norms


def figure(columns: int, *, width: float = 5.5, height: float = 4.0) -> tuple[Any, list[Any]]:
    """A figure of ``columns`` axes side by side, drawn without a display."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise ModelError(
            "pictures need matplotlib: pip install 'elman[plot]', or ask for no picture"
        ) from None
    fig = Figure(figsize=(width * columns, height), layout="constrained")
    FigureCanvasAgg(fig)
    return fig, list(np.atleast_1d(fig.subplots(1, columns)))


def draw_gradients(
    start: Mapping[str, Norms],
    trained: Mapping[str, Norms],
    path: Path,
) -> None:
    """Two panels of ‖dL/ds_t‖ against the distance from the loss, on a logarithmic scale."""
    fig, axes = figure(2)
    colours = {name: f"C{i}" for i, name in enumerate(dict.fromkeys((*start, *trained)))}
    titles = (
        "Before training, the same recurrent weights\n(orthogonal × 1.6): tanh vanishes, ReLU explodes",
        "After training on the memory task:\nwhat still reaches the first symbols",
    )
    for ax, title, curves in zip(axes, titles, (start, trained), strict=True):
        for name, norms in curves.items():
            back = np.arange(len(norms))[::-1]
            ax.plot(back, norms, label=name, color=colours[name], linewidth=1.8)
        ax.set(
            title=title, xlabel="steps back from the loss", ylabel="‖dL/ds‖, mean over the batch"
        )
        ax.set_yscale("log")
        ax.set_ylim(bottom=max(ax.get_ylim()[0], 1e-16))
        ax.grid(alpha=0.3)
        ax.legend()
    fig.savefig(path, dpi=130)
