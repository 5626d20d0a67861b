"""A picture of what mattered in a search for settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from elman.inspect.plots import new_figure, save_figure
from elman.number_format import format_number

PANELS = 5  # settings that are drawn


class SearchedRange(NamedTuple):
    """The numbers that were searched."""

    low: float
    high: float
    log: bool


class TunedTrial(NamedTuple):
    """The settings of a trial and the score of its first training."""

    values: Mapping[str, Any]
    score: float
    role: str = ""  # "best" or "plain"


def plot_tuning(
    trials: Sequence[TunedTrial],
    importance: Mapping[str, float],
    path: Path,
    *,
    label: str,
    ranges: Mapping[str, SearchedRange],
) -> None:
    """Bars: how much each setting mattered; then the scores against each of those that mattered most.

    Without importances, those are drawn in which the best is not as the plain one. ``label`` says what the
    scores are, ``ranges`` which settings are numbers: all others are choices.
    """
    keys = [*(importance or _find_changes(trials))][:PANELS]
    panels = len(keys) + bool(importance)
    columns = min(3, panels)
    rows = -(-panels // columns)
    fig, axes = new_figure(columns, rows, width=4.6, height=3.6)
    for ax in axes[panels:]:
        ax.set_axis_off()
    if importance:
        _draw_importance(axes[0], importance)
    for ax, key in zip(axes[bool(importance) :], keys, strict=False):
        _draw_setting(ax, key, trials, ranges.get(key))
        ax.set_ylabel(label)
    handles, labels = axes[panels - 1].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    save_figure(fig, path)


def _draw_importance(ax: Any, importance: Mapping[str, float]) -> None:
    names = [*importance][::-1]
    ax.barh(names, [importance[name] for name in names], color="C0")
    ax.set(title="What mattered", xlabel="share of the variance of scores (fANOVA)")
    ax.grid(alpha=0.3, axis="x")


def _draw_setting(ax: Any, key: str, trials: Sequence[TunedTrial], searched: SearchedRange | None) -> None:
    shown = [trial for trial in trials if key in trial.values]
    if searched:
        places = [trial.values[key] for trial in shown]
        _set_scale(ax, searched)
    else:
        names = sorted({trial.values[key] for trial in shown}, key=lambda v: (str(type(v)), v))
        spread = [0.08 * (i % 5 - 2) for i in range(len(shown))]  # equal scores beside each other
        places = [names.index(t.values[key]) + shift for t, shift in zip(shown, spread, strict=True)]
        ax.set_xticks(range(len(names)), [_name(value) for value in names])
        ax.set_xlim(-0.5, len(names) - 0.5)
    styles = {
        "": {"color": "C0", "alpha": 0.6, "label": "trials"},
        "plain": {"color": "black", "marker": "D", "s": 55, "label": "plain settings"},
        "best": {"color": "C1", "marker": "*", "s": 160, "label": "best"},
    }
    for role, style in styles.items():
        points = [(x, t.score) for x, t in zip(places, shown, strict=True) if t.role == role]
        if points:
            ax.scatter(*zip(*points, strict=True), **style, zorder=2 + len(role))
    ax.set_title(key)
    ax.grid(alpha=0.3)


def _set_scale(ax: Any, searched: SearchedRange) -> None:
    low, high, log = searched
    margin = (high / low) ** 0.05 if log else 0.05 * (high - low)
    ax.set_xscale("log" if log else "linear")
    ax.set_xlim(*((low / margin, high * margin) if log else (low - margin, high + margin)))
    if log:  # the usual ticks are few, or on top of each other
        ticks = [low * (high / low) ** (i / 4) for i in range(5)]
        ax.set_xticks(ticks, [format_number(tick, 2) for tick in ticks])
        ax.minorticks_off()


def _find_changes(trials: Sequence[TunedTrial]) -> list[str]:
    """The settings in which the best trial is not as the plain one, then the others."""
    values = {trial.role: trial.values for trial in trials}
    best, plain = values.get("best", {}), values.get("plain", {})
    return sorted(trials[0].values, key=lambda key: best.get(key) == plain.get(key))


def _name(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value == "" else str(value)
