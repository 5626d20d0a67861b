"""Several trainings by one command: one for each seed, or one for each fold of a cross-validation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from elman.errors import ConfigError
from elman.files.model_files import FOLDS, SEEDS
from elman.number_format import format_score

if TYPE_CHECKING:
    from elman.cli.training_run import RunOptions
    from elman.pipeline.recipe import Recipe
    from elman.pipeline.seed_summary import SeedRun


def check_series(run: RunOptions) -> None:
    """Refuse options that do not go together."""
    if run.folds and (run.seeds > 1 or run.curve):
        other = "--seeds" if run.seeds > 1 else "--curve"
        raise ConfigError(f"--folds and {other} are two series of trainings: give one of them")
    if run.folds == 1:
        raise ConfigError("--folds is 1, which leaves nothing to train on; give 2 or more")


def plan_series(recipe: Recipe, run: RunOptions) -> list[tuple[Recipe, Path]]:
    """The trainings of a command, each with its folder: one, or one for each seed or fold."""
    from elman.pipeline.fold_summary import fold_folder
    from elman.pipeline.seed_summary import folder_name

    if run.folds:
        folds = range(1, run.folds + 1)
        parts = ((replace(recipe.data, folds=run.folds, fold=fold), fold) for fold in folds)
        return [(replace(recipe, data=data), run.out / fold_folder(fold)) for data, fold in parts]
    if run.seeds > 1:
        settings = ((replace(recipe.training, seed=seed), seed) for seed in range(run.seeds))
        return [(replace(recipe, training=each), run.out / folder_name(seed)) for each, seed in settings]
    return [(recipe, run.out)]


def write_series(runs: list[SeedRun], run: RunOptions) -> None:
    """Write seeds.json or folds.json, if there are several trainings."""
    from elman.pipeline.fold_summary import write_folds
    from elman.pipeline.seed_summary import write_summary

    if run.folds:
        write_folds(runs, run.out, run.folds)
    elif run.seeds > 1:
        write_summary(runs, run.out)


def describe_series(runs: list[SeedRun], run: RunOptions) -> list[str]:
    """A line for each score, with mean and spread where there are several."""
    from elman.pipeline.fold_summary import describe_folds
    from elman.pipeline.seed_summary import describe_seeds

    return describe_folds(runs) if run.folds else describe_seeds(runs)


def describe_next(runs: list[SeedRun], run: RunOptions) -> list[str]:
    """Where the results of a series are, and which seed is the best."""
    from elman.pipeline.seed_summary import find_best

    if run.folds:
        return [f"all folds: {run.out / FOLDS}; the same command without --folds trains on all data"]
    lines, best = [f"all seeds: {run.out / SEEDS}"], find_best(runs)
    if best:
        score = f"{best['metric']} {format_score(best['metric'], best['valid'])}"
        lines.insert(0, f"best seed: {best['seed']} (valid {score}), in {run.out / best['folder']}")
    return lines
