"""Pictures of cells side by side; several seeds of a cell are a mean and the band between the extremes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from elman.inspect.comparison import ComparisonResult
from elman.inspect.gradients import Norms
from elman.inspect.length_comparison import LengthResult
from elman.inspect.plots import draw_gradients, new_figure, save_figure
from elman.inspect.text_comparison import TextResult


def plot_comparison(
    start: Mapping[str, Norms], results: Mapping[str, Sequence[ComparisonResult]], path: Path
) -> None:
    """Gradients through time before and after training; the memory by length, where several were tested."""
    lengths = [*next(iter(results.values()))[0].memory_by_length]
    trained = {cell: _mean_norms(some) for cell, some in results.items()}
    names = [*dict.fromkeys((*start, *results))]
    fig, axes = new_figure(2 + (len(lengths) > 1))
    draw_gradients(axes[:2], start, trained)
    for ax in axes[2:]:
        for name, some in results.items():
            colour = f"C{names.index(name)}"
            _band(ax, lengths, [[r.memory_by_length[n] for n in lengths] for r in some], name, colour)
        ax.axhline(12.5, color="grey", linestyle=":", label="chance")
        ax.set_xticks(lengths)
        ax.set_ylim(0, 105)
        seeds = len(next(iter(results.values())))
        ax.set(title=f"Memory, trained on noise of up to {max(lengths)} symbols{_of_seeds(seeds)}")
        ax.set(xlabel="symbols of noise to remember over", ylabel="right answers, %")
        ax.grid(alpha=0.3)
        ax.legend(loc="center right")
    save_figure(fig, path)


def _mean_norms(some: Sequence[ComparisonResult]) -> Norms:
    """The geometric mean, as the scale of the picture is logarithmic."""
    norms: Norms = np.exp(np.mean([np.log(np.maximum(r.norms, 1e-300)) for r in some], 0))
    return norms


def plot_text_comparison(results: Mapping[str, Sequence[TextResult]], path: Path, *, text: str) -> None:
    """Bits per character during training, and at its end: a dot a seed."""
    fig, (curves, ends) = new_figure(2)
    for place, (name, some) in enumerate(results.items()):
        points = min(len(r.curve) for r in some)
        updates = np.mean([[u for u, _ in r.curve[:points]] for r in some], 0)
        _band(curves, updates, [[bits for _, bits in r.curve[:points]] for r in some], name, f"C{place}")
        ends.plot([r.bits for r in some], [place] * len(some), "o", color=f"C{place}", alpha=0.7)
        middle = float(np.mean([r.bits for r in some]))
        ends.plot(middle, place, "|", color="black", markersize=16)
        if np.isfinite(middle):
            ends.annotate(f"{middle:.3f}", (middle, place), (0, 10), textcoords="offset points", ha="center")
    sizes = [f"{name}\n{some[0].width} units" for name, some in results.items()]
    seeds = len(next(iter(results.values())))
    curves.set(title=f"Held-out end of {text}{_of_seeds(seeds)}", xlabel="updates", ylabel="bits per character")
    last = [bits for some in results.values() for r in some for _, bits in r.curve[1:] if np.isfinite(bits)]
    if last:  # the untrained model is far above, and would press all curves together
        curves.set_ylim(min(last) - 0.1, max(last) + 0.2)
    curves.legend()
    ends.set_yticks(range(len(results)), sizes)
    ends.set_ylim(len(results) - 0.5, -0.6)
    ends.margins(x=0.15)
    ends.set(title="At the end: a dot for each seed", xlabel="bits per character (fewer are better)")
    for ax in (curves, ends):
        ax.grid(alpha=0.3)
        ax.title.set_parse_math(False)
    save_figure(fig, path)


def plot_cell_table(
    texts: Mapping[str, Mapping[str, Sequence[TextResult]]],
    lengths: Mapping[str, Sequence[LengthResult]],
    path: Path,
) -> None:
    """Bits per character on each text, parity and copying: a dot a seed, rings for longer sequences."""
    tasks = [*next(iter(lengths.values()))[0].right]
    fig, axes = new_figure(len(texts) + len(tasks), height=0.3 * len(lengths) + 1.4, width=4.0)
    first = next(iter(texts.values()))
    order = sorted(first, key=lambda name: float(np.mean([r.bits for r in first[name]])))
    for ax, (text, by_cell) in zip(axes, texts.items(), strict=False):
        for place, name in enumerate(order):
            bits = [r.bits for r in by_cell[name]]
            ax.plot(bits, [place] * len(bits), "o", color="C0", alpha=0.7)
        ax.set(title=f"Held-out end of {text}", xlabel="bits per character (fewer are better)")
    for ax, task in zip(axes[len(texts) :], tasks, strict=True):
        for size, length in zip((5, 9), lengths[order[0]][0].right[task], strict=True):
            dots = {"color": "C1", "linestyle": "none", "marker": "o", "markersize": size}
            dots |= {"markerfacecolor": "C1" if size == 5 else "none", "label": f"{length} symbols"}
            right = [(r.right[task][length], i) for i, name in enumerate(order) for r in lengths[name]]
            ax.plot(*zip(*right, strict=True), **dots)
        ax.set(title=task.capitalize(), xlabel="right answers, %", xlim=(-3, 103))
        ax.legend(loc="best")
    for ax in axes:
        ax.set_yticks(range(len(order)), order if ax is axes[0] else [""] * len(order))
        ax.set_ylim(len(order) - 0.5, -0.5)
        ax.grid(alpha=0.3)
        ax.title.set_parse_math(False)
    save_figure(fig, path)


def _band(ax: Any, xs: Any, rows: Sequence[Sequence[float]], name: str, colour: str) -> None:
    ax.plot(xs, np.mean(rows, 0), "o-", color=colour, label=name, markersize=4, linewidth=1.8)
    if len(rows) > 1:
        ax.fill_between(xs, np.min(rows, 0), np.max(rows, 0), color=colour, alpha=0.15, linewidth=0)


def _of_seeds(seeds: int) -> str:
    return f"\n(mean of {seeds} seeds, and their range)" if seeds > 1 else ""
