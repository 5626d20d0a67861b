"""A reliability diagram: how often answers are right, against how sure they are."""

from __future__ import annotations

from pathlib import Path

from elman.inspect.plots import new_figure, save_figure
from elman.metrics import calibration_error, reliability_bins
from elman.tasks.results import Confidences


def plot_reliability(answers: Confidences, path: Path) -> None:
    """Above, the share of right answers by confidence and how far they are apart; below, how many there are."""
    bins, error = reliability_bins(*answers), calibration_error(*answers)
    fig, (shares, counts) = new_figure(1, 2, height=3.2)
    left, width = [b.lower for b in bins], bins[0].upper - bins[0].lower
    accuracy, confidence = [b.accuracy for b in bins], [b.confidence for b in bins]
    bars = {"width": width, "align": "edge", "edgecolor": "white"}
    shares.bar(left, accuracy, color="C0", label="right answers", **bars)
    gaps = [sure - right for sure, right in zip(confidence, accuracy, strict=True)]
    hatched = {**bars, "edgecolor": "C3", "hatch": "////", "fill": False, "linewidth": 0}
    shares.bar(left, gaps, bottom=accuracy, label="gap to the confidence", **hatched)
    shares.plot([0, 1], [0, 1], color="0.4", linestyle="--", linewidth=1, label="as sure as right")
    title = f"ECE {error:.2f} % of {len(answers.sure):,} answers"
    shares.set(title=title, ylabel="share of right answers", xlim=(0, 1), ylim=(0, 1))
    shares.legend(loc="upper left", fontsize="small")
    counts.bar(left, [b.count for b in bins], color="0.6", **bars)
    counts.set(xlabel="confidence", ylabel="answers", xlim=(0, 1), yscale="log")
    counts.set_ylim(bottom=0.8)
    for ax in (shares, counts):
        ax.grid(alpha=0.3)
        ax.set_axisbelow(True)
    save_figure(fig, path)
