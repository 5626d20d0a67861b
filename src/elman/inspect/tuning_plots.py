"""A picture of what mattered in a search for settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from elman.inspect.plots import new_figure, save_figure

PANELS = 5  # settings that are drawn


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
    log_keys: Sequence[str] = (),
) -> None:
    """Bars: how much each setting mattered; then the scores against each of those that mattered most.

    Without importances the first settings are drawn. ``label`` says what the scores are.
    """
    keys = [*(importance or trials[0].values)][:PANELS]
    panels = len(keys) + bool(importance)
    columns = min(3, panels)
    rows = -(-panels // columns)
    fig, axes = new_figure(columns, rows, width=4.6, height=3.6)
    for ax in axes[panels:]:
        ax.set_axis_off()
    if importance:
        _draw_importance(axes[0], importance)
    for ax, key in zip(axes[bool(importance) :], keys, strict=False):
        _draw_setting(ax, key, trials, log=key in log_keys)
        ax.set_ylabel(label)
    handles, labels = axes[panels - 1].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    save_figure(fig, path)


def _draw_importance(ax: Any, importance: Mapping[str, float]) -> None:
    names = [*importance][::-1]
    ax.barh(names, [importance[name] for name in names], color="C0")
    ax.set(title="What mattered", xlabel="importance (PED-ANOVA)")
    ax.grid(alpha=0.3, axis="x")


def _draw_setting(ax: Any, key: str, trials: Sequence[TunedTrial], *, log: bool) -> None:
    shown = [trial for trial in trials if key in trial.values]
    kinds = {type(trial.values[key]) for trial in shown}
    if kinds <= {int, float} and len({trial.values[key] for trial in shown}) > 4:
        places = [trial.values[key] for trial in shown]
        ax.set_xscale("log" if log else "linear")
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


def _name(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value == "" else str(value)
