"""A learning curve on the command line: its table, what more data would give, the picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from elman.cli.terminal import print_table, say
from elman.files.model_files import CURVE, CURVE_PICTURE
from elman.number_format import format_score

if TYPE_CHECKING:
    from elman.pipeline.learning_curve import LearningCurve


def report_curve(curve: LearningCurve, out: Path) -> None:
    """Print the table and a sentence; write curve.json and curve.png."""
    from elman.pipeline.learning_curve import write_curve

    write_curve(curve, out)
    rows = []
    for point in curve.points:
        spread = "" if point.spread is None else f" ± {format_score(curve.metric, point.spread)}"
        score = f"{format_score(curve.metric, point.mean)}{spread}"
        rows.append([f"{100 * point.share:.0f} %", f"{point.size:,}", score])
    click.echo("learning curve")
    print_table(["data", curve.unit, f"valid {curve.metric}"], rows)
    click.echo(describe_forecast(curve))
    drawn = _plot(curve, out / CURVE_PICTURE)
    say(f"learning curve: {out / CURVE}" + (f", {out / CURVE_PICTURE}" if drawn else ""))


def describe_forecast(curve: LearningCurve) -> str:
    """What twice the data would likely give, if the points lie on a power law."""
    law, expected, last = curve.fit(), curve.forecast(), curve.points[-1]
    if law is None:
        return "there are too few sizes to say what more data would give"
    if expected is None:
        return "the scores do not follow a power law closely enough to say what more data would give"
    before, after = (format_score(curve.metric, score) for score in (last.mean, expected))
    return (
        f"with twice the data ({2 * last.size:,} {curve.unit}), {curve.metric} would likely be about {after} "
        f"instead of {before}: the error falls as n^-{law.exponent:.2f} (R² {law.r2:.2f})"
    )


def _plot(curve: LearningCurve, path: Path) -> bool:
    """Draw it; without matplotlib, say so: the numbers are there all the same."""
    from elman.errors import ModelError
    from elman.inspect.curve_plots import plot_learning_curve

    sizes, scores = [p.size for p in curve.points], [p.scores for p in curve.points]
    labels, forecast = (curve.unit, curve.metric), curve.forecast()
    try:
        plot_learning_curve(sizes, scores, path, labels=labels, forecast=forecast)
    except ModelError as error:  # no matplotlib
        say(f"no picture: {error}")
        return False
    return True
