"""Scores against the size of the training data: what would more of it give?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

from elman import artifact
from elman.errors import ConfigError
from elman.files.atomic_files import write_atomically
from elman.files.model_files import CURVE, CURVE_FOLDER, METRICS
from elman.pipeline.power_law import PowerLaw, error_of, fit_power_law, score_of
from elman.pipeline.recipe import Recipe
from elman.text.json_io import read_json

SHARES = (0.1, 0.2, 0.4, 0.7, 1.0)


class CurveRun(NamedTuple):
    """A training on a part of the data."""

    recipe: Recipe
    folder: Path


@dataclass(frozen=True)
class CurvePoint:
    """The scores of models trained on so many examples, one for each seed, on the same validation data."""

    share: float
    size: int
    scores: tuple[float, ...]

    @property
    def mean(self) -> float:
        return mean(self.scores)

    @property
    def spread(self) -> float | None:
        """The standard deviation over seeds."""
        return stdev(self.scores) if len(self.scores) > 1 else None


@dataclass(frozen=True)
class LearningCurve:
    """Points by size; ``unit`` is what the size counts."""

    metric: str
    unit: str
    points: tuple[CurvePoint, ...]

    def forecast(self) -> float | None:
        """The score to expect of twice the data; None where no power law can be believed."""
        law, last = self.fit(), error_of(self.metric, self.points[-1].mean)
        return None if law is None or not law.good else score_of(self.metric, last * 2**-law.exponent)

    def fit(self) -> PowerLaw | None:
        """The power law of the errors; None where there are too few points, or one without an error."""
        errors = [error_of(self.metric, point.mean) for point in self.points]
        return fit_power_law([point.size for point in self.points], errors)


def smaller_runs(recipe: Recipe, out: Path, seeds: Sequence[int]) -> Iterator[CurveRun]:
    """The trainings on parts of the data, the smallest first, with the same validation data as all of it."""
    if not (recipe.data.valid or recipe.data.holdout):
        raise ConfigError("a learning curve needs validation data: give --valid, or set data.holdout=0.1")
    for share in SHARES[:-1]:
        for seed in seeds:
            data = replace(recipe.data, share=share * recipe.data.share)
            chosen = replace(recipe, data=data, training=replace(recipe.training, seed=seed))
            yield CurveRun(chosen, _folder(out, share, seed))


def _folder(out: Path, share: float, seed: int) -> Path:
    return out / CURVE_FOLDER / f"{100 * share:.0f}-seed-{seed}"


def read_curve(out: Path, full: Sequence[Path], seeds: Sequence[int]) -> LearningCurve:
    """The curve of the models that were trained; ``full`` are the folders of those on all data."""
    metric = artifact.load(full[0], device="cpu").metric
    points = []
    for share in SHARES:
        folders = full if share == 1 else [_folder(out, share, seed) for seed in seeds]
        found = [read_json(folder / METRICS) for folder in folders]
        (unit, size), *_ = found[0]["trained_on"].items()
        points.append(CurvePoint(share, size, tuple(one["valid"][metric] for one in found)))
    return LearningCurve(metric, unit, tuple(points))


def write_curve(curve: LearningCurve, out: Path) -> None:
    """The points and the power law as curve.json."""
    law = curve.fit()
    points = [
        asdict(point) | {"mean": point.mean, "standard_deviation": point.spread} for point in curve.points
    ]
    record: dict[str, Any] = {"metric": curve.metric, "unit": curve.unit, "points": points}
    record["with_twice_the_data"] = curve.forecast()
    record["power_law"] = None if law is None else {**asdict(law), "good": law.good}
    write_atomically(out / CURVE, (json.dumps(record, indent=2) + "\n").encode())
