"""What a search found: the table of its trials, the recipe and the model of the best."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from elman import artifact
from elman.config import to_plain
from elman.files.atomic_files import write_atomically
from elman.folders.output_folder import claim_for_saving
from elman.folders.search_folder import MODEL, RECIPE, TABLE
from elman.number_format import format_score
from elman.pipeline.fold_summary import fold_folder
from elman.pipeline.model_card import write_model_card
from elman.pipeline.recipe import Recipe, expand_paths
from elman.pipeline.recipe_file import format_recipe
from elman.pipeline.trial_run import run_folder
from elman.pipeline.trial_score import ScoreReader, find_length, load_trial
from elman.pipeline.tuning_plan import TuningPlan
from elman.pipeline.tuning_study import TrialResult, find_best


class SearchResult(NamedTuple):
    """All trials, the best first."""

    plan: TuningPlan
    trials: Sequence[TrialResult]
    metric: str
    sign: float  # -1 where less of the metric is better: scores of trials are such that more is better
    length: Mapping[str, int] = {}  # epochs or updates of the best trial, where it is trained anew

    @property
    def best(self) -> TrialResult:
        found = find_best([*self.trials])
        assert found
        return found

    @property
    def plain(self) -> TrialResult:
        return next(trial for trial in self.trials if trial.number == 0)

    def score(self, trial: TrialResult, rung: int | None = None) -> float:
        """What a trial reached, as its metric counts it."""
        return self.sign * trial.scores[trial.reached if rung is None else rung]

    def describe_length(self, trial: TrialResult) -> str:
        """How long the last training of a trial was."""
        return self.plan.find_length(trial.values, trial.reached).describe()

    def show(self, score: float) -> str:
        return format_score(self.metric, score)

    def changes(self, trial: TrialResult) -> dict[str, Any]:
        """The settings of a trial that are not the plain ones."""
        plain = self.plain.values
        return {key: value for key, value in trial.values.items() if value != plain.get(key)}

    @property
    def recipe(self) -> Recipe:
        """The best settings; the test data that was given is part of it again."""
        best, plan = self.best, self.plan
        last = plan.make_last_recipe(best.values, best.reached, self.length) if plan.refits else None
        made = last or plan.make_recipe(best.values, best.reached)
        return replace(made, data=replace(made.data, test=self.plan.recipe.data.test))

    def describe_gain(self) -> str:
        """One sentence: how much better the best is than the plain settings, on validation data."""
        best, plain, metric = self.best, self.plain, self.metric
        judged = "mean over the folds" if self.plan.folds else "validation data"
        if best.number == 0:
            said = f"the plain settings are the best of {len(self.trials)} trials"
            return f"{said}: {metric} {self.show(self.score(best))} ({judged})"
        after, before = self.score(best), self.score(plain, min(best.reached, plain.reached))
        gain = f"{'+' if after >= before else '-'}{self.show(abs(after - before))}"
        both = f"{self.show(before)} → {self.show(after)}"
        return f"gain over the plain settings: {metric} {both} ({gain}, {judged})"


def gather_result(
    plan: TuningPlan, trials: Sequence[TrialResult], scores: ScoreReader, out: Path
) -> SearchResult:
    """The trials in order: those that came further first, then by their scores; failures last."""
    best = find_best([*trials])
    assert best
    folder = run_folder(out, best.number, best.reached)
    if not scores.metric:  # nothing was trained in this session
        scores.learn(folder)
    length: Mapping[str, int] = {}
    if plan.refits:
        one = folder / fold_folder(1) if plan.folds else folder
        length = find_length(one, plan.find_length(best.values, best.reached).epochs)
    ordered = sorted(trials, key=lambda t: (-t.reached, -t.scores.get(t.reached, 0.0), t.number))
    return SearchResult(plan, ordered, scores.metric, scores.sign, length)


def write_table(result: SearchResult, out: Path) -> None:
    """All trials as trials.csv: how far each came, its score, its settings."""
    text = io.StringIO()
    keys = [*result.plan.space]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["trial", "training", result.metric, "seconds", "failure", *keys])
    for trial in result.trials:
        scored = trial.reached >= 0
        reached = [result.describe_length(trial), result.score(trial)] if scored else ["", ""]
        values = [trial.values.get(key, "") for key in keys]
        writer.writerow([trial.number, *reached, round(trial.seconds, 1), trial.failure, *values])
    write_atomically(out / TABLE, text.getvalue().encode())


def write_recipe(result: SearchResult, out: Path) -> Path:
    """The best settings as recipe.toml."""
    about = f"found by elman tune, trial {result.best.number} of {len(result.trials)}\n{result.describe_gain()}"
    write_atomically(out / RECIPE, format_recipe(result.recipe, about).encode())
    return out / RECIPE


def deliver_model(result: SearchResult, out: Path) -> Mapping[str, Any]:
    """Put the model of the best trial into its place; it alone is tested, where there is test data."""
    model = load_trial(result.plan, run_folder(out, result.best.number, result.best.reached))
    record = model.record
    assert record
    recipe, metrics = result.recipe, dict(record.metrics)
    if recipe.data.test:
        read = expand_paths(recipe)
        data = read.task_class.resolve_data(read.data)
        metrics["test"] = model.evaluate_dataset(model.encode(read.task_class.read_test(data)))
    card = write_model_card(recipe, model, metrics, metrics["trained_on"], record.run)
    config = {**record.config, "data": {**record.config["data"], "test": to_plain(recipe.data.test)}}
    with claim_for_saving(out / MODEL, overwrite=True) as staging:
        artifact.write_model(model, record._replace(config=config, metrics=metrics, card=card), staging)
    return metrics
