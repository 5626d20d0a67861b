"""A cross-validation: ``folds.json`` has the scores of each fold, their mean and spread."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from elman.files.atomic_files import write_atomically
from elman.files.model_files import FOLDS
from elman.number_format import format_score
from elman.pipeline.seed_summary import SeedRun, spread_scores


def fold_folder(fold: int) -> str:
    """The folder of a fold's model."""
    return f"fold-{fold}"


def write_folds(runs: Sequence[SeedRun], out: Path, folds: int) -> None:
    """Write ``folds.json`` beside the folders of the folds 1, 2, … that are trained already.

    The scores are those on the fold: neither training nor the choice of the best weights saw it.
    """
    each = [
        {"fold": fold, "folder": fold_folder(fold), "scores": run.metrics["test"]}
        for fold, run in enumerate(runs, 1)
    ]
    spreads = {name: spread._asdict() for name, spread in spread_scores(runs, "test").items()}
    summary = {"folds": folds, "scores": spreads, "runs": each}
    write_atomically(out / FOLDS, (json.dumps(summary, indent=2) + "\n").encode())


def describe_folds(runs: Sequence[SeedRun]) -> list[str]:
    """A line for each score: ``accuracy 91.20 ± 0.31 (5 folds)``."""
    return [
        f"{name} {format_score(name, middle)} ± {format_score(name, sd or 0.0)} ({len(runs)} folds)"
        for name, (middle, sd) in spread_scores(runs, "test").items()
    ]
