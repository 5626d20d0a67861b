"""Pictures of one text, with its tokens on the axis."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from elman.inspect.layer_gates import LayerGates
from elman.inspect.plots import new_figure, save_figure, set_heading
from elman.inspect.saliency import Saliency, visible_token
from elman.inspect.salient_plot import NATS, plot_strongest
from elman.inspect.salient_tokens import LONG

UNITS = 32  # of a layer that are shown at most
TOKENS = 100  # of a text that are shown: the last, on which what comes next rests most


def plot_gates(
    tokens: Sequence[str], layer: LayerGates, path: Path, *, about: str = "", dpi: int = 130
) -> None:
    """A heat map for each gate and state: units down, tokens along."""
    output, count = layer.values[layer.output], min(len(tokens), TOKENS)
    most = _liveliest(output)
    panels, width = len(layer.values), 1.6 + 0.22 * max(count, 8)
    columns = _columns(panels, width)
    fig, axes = new_figure(columns, -(-panels // columns), width=width, height=1.4 + 0.13 * len(most))
    for ax, (name, values) in zip(axes, layer.values.items(), strict=False):
        # What is wider or narrower than the output has other units.
        same = values.shape[1] == output.shape[1]
        units = most if same else _liveliest(values)
        shown = values[-count:, units].T
        _heat(fig, ax, shown, "value", around_zero=bool(shown.min() < 0))
        _along(ax, tokens, count)
        ax.set_yticks(range(len(units)), [str(unit) for unit in units], fontsize=6)
        ax.set(title=layer.label(name), ylabel="unit" if same else f"unit of {values.shape[1]}")
    for ax in axes[panels:]:
        ax.set_axis_off()
    set_heading(fig, f"{_heading(layer, len(most))}{_cut(tokens)}", about)
    save_figure(fig, path, dpi=dpi)


def _liveliest(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The units that vary most over the text, in their order."""
    return np.sort(np.argsort(-values.var(0), kind="stable")[:UNITS])


def _heading(layer: LayerGates, shown: int) -> str:
    count = layer.values[layer.output].shape[1]
    units = f"the {shown} of {count} units that vary most" if shown < count else "all units"
    order = ", read from the end" if layer.direction == "backward" else ""
    name = layer.name[0].upper() + layer.name[1:]
    return f"{name}{order}: {units}"


def _columns(panels: int, width: float) -> int:
    """As many side by side as fit a wide screen, at most three, with at most one place left empty."""
    possible = range(1, max(1, min(3, panels, int(22 / width))) + 1)
    return min(possible, key=lambda columns: (-panels % columns > 1, -columns))


def plot_saliency(
    tokens: Sequence[str], rows: Sequence[Saliency], path: Path, *, blank: str = " ", about: str = ""
) -> None:
    """What each token says for an answer: bars for one answer, a heat map for several.

    Of a long text, whose tokens ``blank`` separates, the strongest tokens are shown with their context.
    """
    if len(tokens) > LONG:
        plot_strongest(tokens, rows, path, blank=blank, about=about)
        return
    if len(rows) == 1:
        plot_bars(tokens, rows[0].shares, path, title=rows[0].title, label=NATS, about=about)
        return
    count = len(tokens)
    fig, (ax,) = new_figure(1, width=3.2 + 0.28 * max(count, 8), height=1.8 + 0.24 * len(rows))
    _heat(fig, ax, np.stack([row.shares[-count:] for row in rows]), NATS, around_zero=True)
    _along(ax, tokens, count)
    ax.set_yticks(range(len(rows)), [row.title for row in rows], fontsize=8, parse_math=False)
    ax.set(xlabel="token that is read", ylabel="answer")
    set_heading(fig, "Red speaks for an answer, blue against it", about)
    save_figure(fig, path)


def plot_bars(
    tokens: Sequence[str], values: npt.ArrayLike, path: Path, *, title: str, label: str, about: str = ""
) -> None:
    """A bar for each token, red where it is above zero."""
    count = min(len(tokens), TOKENS)
    heights = np.asarray(values)[-count:]
    fig, (ax,) = new_figure(1, width=max(6.5, 1.2 + 0.24 * count), height=3.6)
    ax.bar(range(count), heights, color=["C3" if v > 0 else "C0" for v in heights])
    ax.axhline(0, color="black", linewidth=0.8)
    _along(ax, tokens, count)
    ax.set_xlim(-0.7, count - 0.3)
    set_heading(fig, title + _cut(tokens), about)
    ax.set_ylabel(label)
    ax.grid(axis="y", alpha=0.3)
    ax.set_axisbelow(True)
    save_figure(fig, path)


def _heat(fig: Any, ax: Any, values: npt.NDArray[Any], label: str, *, around_zero: bool) -> None:
    """From blue through white at zero to red, or from dark at zero to light."""
    most = float(np.abs(values).max()) if around_zero else max(1.0, float(values.max()))
    colours, least = ("RdBu_r", -most) if around_zero else ("viridis", 0)
    image = ax.imshow(values, aspect="auto", cmap=colours, vmin=least, vmax=most)
    fig.colorbar(image, ax=ax, pad=0.02, label=label)


def _along(ax: Any, tokens: Sequence[str], count: int) -> None:
    """Tokens under the axis; they may hold signs that mean something to a typesetter."""
    names = [visible_token(token) for token in tokens[-count:]]
    upright = max(map(len, names)) > 2
    ax.set_xticks(range(count), names, rotation=90 * upright, fontsize=8, parse_math=False)


def _cut(tokens: Sequence[str]) -> str:
    return f" (last {TOKENS} of {len(tokens)} tokens)" if len(tokens) > TOKENS else ""
