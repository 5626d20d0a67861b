"""Which source words a decoder looked at while it wrote each target word: as text, and as a picture."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from elman.errors import ModelError
from elman.inspect.plots import new_figure, set_heading, write_figure
from elman.shapes import Float

WORD = 0.3  # inches a word
MOST = 80  # words to an axis; beyond, the picture stops growing and some words are left out
LONGEST = 24  # characters of a word
# What systems have for scripts that the default font lacks.
FONTS = ["Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans Devanagari", "WenQuanYi Zen Hei"]
FONTS += ["PingFang SC", "Hiragino Sans", "Microsoft YaHei", "Malgun Gothic", "Nirmala UI"]


def show_alignment(weights: Float[np.ndarray, "T S"], source: Sequence[str], target: Sequence[str]) -> str:
    """A line for each target word: the source word that it attends to most, and the weight."""
    _check(weights, source, target)
    left, right = _columns(target), _columns([source[j] for j in weights.argmax(1)])
    rows = zip(left, right, weights.max(1), strict=True)
    return "\n".join(f"{a}  ← {b}  {peak:.2f}" for a, b, peak in rows)


def plot_alignment(
    weights: Float[np.ndarray, "T S"],
    source: Sequence[str],
    target: Sequence[str],
    path: Path,
    *,
    about: str = "",
) -> None:
    """A heat map in a file: source words along the top, target words down the side."""
    _check(weights, source, target)
    wide, high = (1 + WORD * min(len(words), MOST) for words in (source, target))
    across, down = (max(len(_printable(word)) for word in words) for words in (source, target))
    fig, (ax,) = new_figure(1, width=wide + 1.3 + 0.09 * down, height=high + 0.7 + 0.07 * across)
    picture = ax.imshow(weights, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    ax.xaxis.set_label_position("top")
    ax.xaxis.tick_top()
    ax.set(xlabel="source", ylabel="target")
    _label(ax.xaxis, source, rotation=45, ha="left", rotation_mode="anchor")
    _label(ax.yaxis, target)
    set_heading(fig, about, "")
    fig.colorbar(picture, ax=ax, label="attention", aspect=high / 0.2, pad=0.2 / wide)
    with warnings.catch_warnings():
        # A character that no font here has is drawn as a box, which says enough.
        warnings.filterwarnings("ignore", r"Glyph .* missing|Matplotlib currently does not support")
        write_figure(fig, path, dpi=110)


def _check(weights: np.ndarray, source: Sequence[str], target: Sequence[str]) -> None:
    if weights.shape != (len(target), len(source)):
        shape = " × ".join(map(str, weights.shape))
        raise ModelError(f"weights of {shape} do not fit {len(target)} target and {len(source)} source words")
    if not weights.size:
        raise ModelError("an alignment needs a word on either side")


def _label(axis: Any, words: Sequence[str], **style: Any) -> None:
    """Words at an axis, every n-th where there are too many."""
    from matplotlib.font_manager import fontManager

    shown = range(0, len(words), -(-len(words) // MOST))
    installed = set(fontManager.get_font_names())
    family = ["DejaVu Sans", *(font for font in FONTS if font in installed)]
    labels = [_printable(words[i]) for i in shown]
    # A word between dollar signs is not a formula.
    axis.set_ticks(shown, labels, fontsize=10, fontfamily=family, parse_math=False, **style)
    axis.set_tick_params(length=0)


def _printable(word: str) -> str:
    """On one line, without control characters, not endless."""
    word = word if len(word) <= LONGEST else word[: LONGEST - 1] + "…"
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in word)


def _columns(words: Sequence[str]) -> list[str]:
    """Padded to the width of the widest, as a terminal shows them."""
    words = [_printable(word) for word in words]
    widths = [sum(map(_places, word)) for word in words]
    return [word + " " * (max(widths) - n) for word, n in zip(words, widths, strict=True)]


def _places(character: str) -> int:
    """On a terminal: an East Asian character takes two."""
    wide = unicodedata.east_asian_width(character) in "WF"
    return 0 if unicodedata.combining(character) else 1 + wide
