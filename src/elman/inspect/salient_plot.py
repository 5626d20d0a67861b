"""Saliency of a text that is too long for a bar a token: its strongest tokens, and where they stand in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from elman.inspect.plots import new_figure, save_figure, set_heading
from elman.inspect.saliency import Saliency, visible_token
from elman.inspect.salient_tokens import strongest_pairs, strongest_tokens

PAIRS = 24  # of an answer and a token
NATS = "gradient × input, nats"


def plot_strongest(
    tokens: Sequence[str], rows: Sequence[Saliency], path: Path, *, blank: str, about: str = ""
) -> None:
    """Of one answer the strongest tokens in their context; of several, the strongest pairs of both."""
    if len(rows) == 1:
        found = strongest_tokens(tokens, rows[0].shares, blank=blank)
        labels, shares = [f"{t.context}  {t.place}" for t in found], [t.share for t in found]
        heading = f"{rows[0].title}: the {len(found)} strongest of {len(tokens)} tokens"
    else:
        pairs = strongest_pairs(tokens, rows, PAIRS)
        labels = [f"{visible_token(tokens[t])} ({t + 1})  →  {rows[r].title}" for r, t in pairs]
        shares = [float(rows[r].shares[t]) for r, t in pairs]
        heading = f"The {len(pairs)} strongest of {len(tokens)} tokens for {len(rows)} answers"
    fig, (strip, bars) = new_figure(1, 2, width=9.5, height=(1.6 + 0.28 * len(labels)) / 2)
    strip.get_gridspec().set_height_ratios([1, max(4, len(labels) / 2)])
    _draw_strip(strip, np.stack([row.shares for row in rows]))
    _draw_bars(bars, labels, shares)
    set_heading(fig, heading, about)
    save_figure(fig, path)


def _draw_strip(ax: Any, shares: np.ndarray) -> None:
    """Where in the text something speaks for an answer (red) or against it (blue)."""
    strongest = shares[np.abs(shares).argmax(0), np.arange(shares.shape[1])]
    most = float(np.abs(strongest).max()) or 1.0
    ends = (0.5, len(strongest) + 0.5, 0, 1)
    ax.imshow(strongest[None], aspect="auto", cmap="RdBu_r", vmin=-most, vmax=most, extent=ends)
    ax.set_yticks([])
    ax.set_title("the whole text, by the number of the token", fontsize=9)


def _draw_bars(ax: Any, labels: Sequence[str], shares: Sequence[float]) -> None:
    places = range(len(labels))
    ax.barh(places, shares, color=["C3" if share > 0 else "C0" for share in shares])
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_yticks(places, labels, fontsize=9, family="monospace", parse_math=False)
    ax.invert_yaxis()
    ax.set_xlabel(f"{NATS}; red speaks for the answer, blue against it")
    ax.grid(axis="x", alpha=0.3)
    ax.set_axisbelow(True)
