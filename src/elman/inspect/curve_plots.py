"""A picture of scores against the size of the training data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from elman.inspect.plots import new_figure, save_figure


def plot_learning_curve(
    sizes: Sequence[int],
    scores: Sequence[Sequence[float]],
    path: Path,
    *,
    labels: tuple[str, str],
    forecast: float | None = None,
) -> None:
    """The mean of each size, a dot for each seed, and what is expected of twice the data, if that is known.

    ``labels`` say what is trained on and what is scored.
    """
    fig, (ax,) = new_figure(1, width=6.5, height=4.2)
    means, shown = [mean(some) for some in scores], [*sizes]
    ax.plot(sizes, means, "-", color="C0")
    for size, some in zip(sizes, scores, strict=True):
        ax.plot([size] * len(some), some, "o", color="C0", markersize=5, alpha=0.7)
    if forecast is not None:
        shown.append(2 * sizes[-1])
        style = {"color": "C1", "marker": "o", "markerfacecolor": "white", "markevery": [1]}
        further = "expected with twice the data"
        ax.plot(shown[-2:], [means[-1], forecast], "--", label=further, zorder=1, **style)
        ax.legend()
    ax.set_xscale("log")
    ax.set_xticks(shown, [f"{size:,}" for size in shown], rotation=30, ha="right")
    ax.minorticks_off()
    ax.set(title="Learning curve on validation data", xlabel=f"training {labels[0]}", ylabel=labels[1])
    ax.grid(alpha=0.3)
    save_figure(fig, path)
