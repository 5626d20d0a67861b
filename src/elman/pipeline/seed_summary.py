"""Runs that differ in their seed alone: ``seeds.json`` has the scores of each, their mean, spread and best."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

from elman.files.atomic_files import write_atomically
from elman.files.model_files import SEEDS
from elman.number_format import COUNTS, format_score
from elman.tasks.base import Task

PARTS = ("valid", "test")


class SeedRun(NamedTuple):
    """What a run scored, by which score it is judged, and whether more of that is better."""

    metrics: Mapping[str, Any]
    metric: str
    more_is_better: bool

    @classmethod
    def of(cls, model: Task, metrics: Mapping[str, Any]) -> SeedRun:
        return cls(metrics, model.metric, model.best == "max")


class Spread(NamedTuple):
    """A score over several runs; ``sd`` is the standard deviation of a sample, None of a single run."""

    mean: float
    sd: float | None


def folder_name(seed: int) -> str:
    """The folder of a seed's model."""
    return f"seed-{seed}"


def write_summary(runs: Sequence[SeedRun], out: Path) -> None:
    """Write ``seeds.json`` beside the folders of the seeds 0, 1, …"""
    write_atomically(out / SEEDS, (json.dumps(summarize_seeds(runs), indent=2) + "\n").encode())


def summarize_seeds(runs: Sequence[SeedRun]) -> dict[str, Any]:
    """What ``seeds.json`` holds."""
    each = []
    for seed, run in enumerate(runs):
        scores = {part: run.metrics[part] for part in PARTS if run.metrics.get(part)}
        each.append({"seed": seed, "folder": folder_name(seed), **scores})
    spreads = {part: {n: s._asdict() for n, s in spread_scores(runs, part).items()} for part in PARTS}
    return {
        "seeds": len(runs),
        **{p: s for p, s in spreads.items() if s},
        "best": find_best(runs),
        "runs": each,
    }


def spread_scores(runs: Sequence[SeedRun], part: str) -> dict[str, Spread]:
    """Mean and standard deviation of every score of a part."""
    scored = [run.metrics[part] for run in runs if run.metrics.get(part)]
    spreads = {}
    for name in next(iter(scored), {}):
        values = [scores[name] for scores in scored]
        if name not in COUNTS:
            spreads[name] = Spread(mean(values), stdev(values) if len(values) > 1 else None)
    return spreads


def find_best(runs: Sequence[SeedRun]) -> dict[str, Any] | None:
    """The seed with the best validation score; None where nothing was validated: no test chooses a model."""
    if not all(run.metrics.get("valid") for run in runs):
        return None
    metric, more_is_better = runs[0].metric, runs[0].more_is_better
    values = [run.metrics["valid"][metric] for run in runs]
    seed = values.index(max(values) if more_is_better else min(values))
    return {"seed": seed, "folder": folder_name(seed), "metric": metric, "valid": values[seed]}


def describe_seeds(runs: Sequence[SeedRun]) -> list[str]:
    """A line for each score: ``valid accuracy 91.20 ± 0.31 (3 seeds)``."""
    lines = []
    for part in PARTS:
        for name, (middle, sd) in spread_scores(runs, part).items():
            spread = "" if sd is None else f" ± {format_score(name, sd)} ({len(runs)} seeds)"
            lines.append(f"{part} {name} {format_score(name, middle)}{spread}")
    return lines
