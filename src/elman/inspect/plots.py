"""Pictures as PNG, SVG or PDF files; matplotlib (the extra ``plot``) is imported when one is drawn."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from elman.errors import ModelError, printable
from elman.files.picture_files import NO_MATPLOTLIB, picture_format
from elman.inspect.gradients import Norms
from elman.inspect.history import TrainingHistory, running_mean

# Text stays text, to be searched and edited; the same picture is the same file, whenever it is drawn.
_STYLE: Any = {"svg.fonttype": "none", "pdf.fonttype": 42, "svg.hashsalt": "elman"}
_UNDATED = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


def new_figure(
    columns: int, rows: int = 1, *, width: float = 5.5, height: float = 4.0
) -> tuple[Any, list[Any]]:
    """A figure of axes of that size, in rows and columns, drawn without a display."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise ModelError(NO_MATPLOTLIB) from None
    fig = Figure(figsize=(width * columns, height * rows), layout="constrained")
    FigureCanvasAgg(fig)
    return fig, list(fig.subplots(rows, columns, squeeze=False).flat)


def write_figure(fig: Any, path: Path, *, dpi: int = 130) -> None:
    """Write a figure in the format that the ending of the path says."""
    from matplotlib import rc_context
    from matplotlib.text import Text

    format = picture_format(path)
    for said in fig.findobj(Text):  # a name that is not UTF-8 has no signs that could be drawn
        said.set_text(printable(said.get_text()))
    with rc_context(_STYLE):
        fig.savefig(path, dpi=dpi, format=format, metadata=_UNDATED[format])


def save_figure(fig: Any, path: Path, *, dpi: int = 130) -> None:
    """The same; signs that the font does not have are one warning, not one each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        write_figure(fig, path, dpi=dpi)
    missing = [w for w in caught if re.match("Glyph .* missing from", str(w.message))]
    for warning in caught:
        if warning not in missing:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    if missing:
        warnings.warn(f"{path}: boxes stand for signs that the font does not have", stacklevel=3)


def set_heading(fig: Any, heading: str, about: str) -> None:
    """What a picture shows, and below it of which model and text; signs of a text are no formulas."""
    if said := [line for line in (heading, about) if line]:
        fig.suptitle("\n".join(said)).set_parse_math(False)


def describe_subject(model: str, text: str = "", most: int = 70) -> str:
    """For the heading of a picture: the name of a model and the text it read, cut where it is long."""
    text = " ".join(text.split())
    said = f"“{text if len(text) <= most else text[: most - 1] + '…'}”" if text else ""
    return " · ".join(filter(None, (model, said)))


def plot_gradients(start: Mapping[str, Norms], trained: Mapping[str, Norms], path: Path) -> None:
    """Two panels of ‖dL/ds_t‖ against the distance from the loss, on a logarithmic scale."""
    fig, axes = new_figure(2)
    draw_gradients(axes, start, trained)
    save_figure(fig, path)


def draw_gradients(axes: Sequence[Any], start: Mapping[str, Norms], trained: Mapping[str, Norms]) -> None:
    """The same on two axes of a figure; a cell has one colour in both."""
    colours = {name: f"C{i}" for i, name in enumerate(dict.fromkeys((*start, *trained)))}
    titles = (
        "Before training, the same recurrent weights\n(orthogonal × 1.6): tanh vanishes, ReLU explodes",
        "After training on the memory task:\nwhat still reaches the first symbols",
    )
    for ax, title, curves in zip(axes, titles, (start, trained), strict=True):
        for name, norms in curves.items():
            back = np.arange(len(norms))[::-1]
            ax.plot(back, norms, label=name, color=colours[name], linewidth=1.8)
        ax.set(title=title, xlabel="steps back from the loss", ylabel="‖dL/ds‖, mean over the batch")
        ax.set_yscale("log")
        ax.set_ylim(bottom=max(ax.get_ylim()[0], 1e-16))
        ax.grid(alpha=0.3)
        ax.legend()


def plot_history(
    history: TrainingHistory,
    metric: str,
    path: Path,
    *,
    unit: str = "",
    lost: str = "loss, nats",
    about: str = "",
) -> None:
    """The loss of every update, by its name ``lost``, and its running mean; the scores, in ``unit``."""
    fig, (loss, score) = new_figure(2)
    known = ~np.isnan(history.losses)
    updates, losses = history.updates[known], history.losses[known]
    width = max(1, len(losses) // 50)
    loss.plot(updates, losses, color="C0", alpha=0.25 if width > 1 else 1, linewidth=0.8, label="each update")
    if width > 1:
        means = running_mean(losses, width)
        loss.plot(updates, means, color="C0", linewidth=1.8, label=f"mean of the last {width}")
    loss.set(title="Training loss", xlabel="updates", ylabel=lost)
    seen = [(e.update, e.scores[metric]) for e in history.evaluations if metric in e.scores]
    score.plot(*zip(*seen, strict=True) if seen else ((), ()), "o-", color="C1", markersize=4)
    if (best := history.best) is not None:
        label = f"best: update {best.update:,}, epoch {best.epoch}"
        score.axvline(best.update, color="C2", linestyle="--", label=label)
        score.legend()
    title = "Score on validation data" if seen else "Nothing was evaluated"
    score.set(title=title, xlabel="updates", ylabel=f"{metric}, {unit}" if unit else metric)
    score.set_xlim(loss.get_xlim())
    loss.legend()
    for ax in (loss, score):
        ax.grid(alpha=0.3)
        ax.xaxis.get_major_locator().set_params(integer=True)
    set_heading(fig, about, "")
    save_figure(fig, path)
