"""A search for settings on the command line: its progress, and what it found."""

from __future__ import annotations

import time
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from elman.cli.terminal import print_table, progress_bar, say
from elman.errors import DataError, ModelError
from elman.folders.search_folder import MODEL, PICTURE, TABLE
from elman.number_format import format_number, format_score, format_scores
from elman.tasks.registry import TASKS

if TYPE_CHECKING:
    from rich.progress import Progress

    from elman.pipeline.tune_settings import RunEnd, Search
    from elman.pipeline.tuning_result import SearchResult
    from elman.pipeline.tuning_study import TrialResult

SHOWN = 10  # trials of the table


def follow_search(search: Search) -> None:
    """Search until the time is up: a bar on a terminal, and a line for each training that ended."""
    from rich.progress import TimeElapsedColumn

    from elman.pipeline.tune_settings import RunEnd, search_settings

    say(_describe_plan(search))
    with progress_bar(TimeElapsedColumn()) as bar:
        shown = bar.add_task("searching", total=60 * search.request.minutes)
        for event in search_settings(search):
            if isinstance(event, RunEnd):
                _print_above(bar, _describe_end(search, event))
                bar.update(shown, description=f"{len(search.study.results)} trials")
            else:
                bar.update(shown, completed=event.seconds)


def _print_above(bar: Progress, line: str) -> None:
    if bar.disable:
        say(line)
    else:
        bar.console.print(line, highlight=False, markup=False, soft_wrap=True)


def _describe_plan(search: Search) -> str:
    plan, request = search.plan, search.request
    times = " → ".join(rung.describe() for rung in plan.rungs)
    each = f" for each of {plan.folds} folds" if plan.folds else ""
    many = f"{request.jobs} at a time" if request.jobs > 1 else "one at a time"
    return f"searching {len(plan.space)} settings: trainings of {times}{each}, {many}"


def _describe_end(search: Search, event: RunEnd) -> str:
    trial = event.result
    name = f"trial {trial.number}{' (the plain settings)' * (not trial.number)}"
    if trial.failure:
        return f"{name} failed: {trial.failure}"
    metric, best = search.scores.metric, search.study.best
    score = format_score(metric, search.scores.sign * trial.scores[trial.reached])
    length = search.plan.find_length(trial.values, trial.reached).describe()
    further = (
        ", goes on" if event.goes_on else ", the best so far" if best and best.number == trial.number else ""
    )
    return f"{name}: {metric} {score} after {length}{further}"


def report_search(search: Search) -> None:
    """Write and print what was found."""
    from elman.pipeline.tuning_result import deliver_model, gather_result, write_recipe, write_table

    out, trials = search.out, search.study.results
    result = gather_result(search.plan, trials, search.scores, out)
    write_table(result, out)
    recipe = write_recipe(result, out)
    if search.plan.folds or search.plan.refits:
        metrics: Any = _train_best(search, recipe)
    else:
        metrics = deliver_model(result, out)
    _print_trials(result)
    click.echo(result.describe_gain())
    if metrics.get("test"):
        click.echo(f"test {format_scores(metrics['test'])}")
    drawn = _plot(result, search)
    say(f"all trials: {out / TABLE}" + (f"; what mattered: {out / PICTURE}" if drawn else ""))
    say(f"recipe: {recipe}; train by it: elman train {quote(str(recipe))} --out DIR")
    say(f"model: {out / MODEL}")
    say(f"next: {TASKS[result.recipe.task].next_command.format(quote(str(out / MODEL)))}")


def _train_best(search: Search, recipe: Path) -> Any:
    """The best settings trained on all data: each trial left out a part of it."""
    from elman.files.model_files import METRICS
    from elman.pipeline.trial_run import stop_runs
    from elman.pipeline.tune_settings import TICK
    from elman.text.json_io import read_json

    say("training the best settings on all data")
    run = search.launcher.train_best(recipe, search.out / MODEL)
    try:
        while not run.ended:
            time.sleep(TICK)
    finally:
        stop_runs([run])
    if run.failure:
        raise ModelError(f"the training of the best settings failed: {run.failure} ({run.log})")
    return read_json(search.out / MODEL / METRICS)


def _print_trials(result: SearchResult) -> None:
    scored = [trial for trial in result.trials if trial.scores]
    shown = scored[:SHOWN]
    if result.plain not in shown:
        shown[-1:] = [result.plain]
    rows = [_row(result, trial) for trial in shown]
    caption = f"{len(scored)} trials; all are in {TABLE}" if len(scored) > len(shown) else ""
    header = ["trial", "training", result.metric, "settings other than the plain ones"]
    print_table(header, rows, caption=caption, left_columns=(3,))


def _row(result: SearchResult, trial: TrialResult) -> list[str]:
    changes = result.changes(trial)
    said = ", ".join(f"{key.rpartition('.')[2]} {_show(value)}" for key, value in changes.items())
    return [
        str(trial.number),
        result.describe_length(trial),
        result.show(result.score(trial)),
        said if trial.number else "the plain settings",
    ]


def _show(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return format_number(value, 3) if isinstance(value, int | float) else value or "none"


def _plot(result: SearchResult, search: Search) -> bool:
    """Draw what mattered; without matplotlib, say so: the numbers are there all the same."""
    from elman.inspect.tuning_plots import SearchedRange, TunedTrial, plot_tuning
    from elman.pipeline.setting_importance import measure_importance

    scored = [trial for trial in result.trials if 0 in trial.scores]
    roles = {0: "plain", result.best.number: "best"}
    trials = [TunedTrial(t.values, result.score(t, 0), roles.get(t.number, "")) for t in scored]
    judged = "" if result.plan.folds else "valid "
    rung = result.plan.rungs[0]  # of its epochs each trial had the same share
    label = f"{judged}{result.metric} after {'about ' * bool(rung.epochs)}{rung.describe()}"
    space = {key: values for key, values in result.plan.space.items() if "low" in values}
    ranges = {key: SearchedRange(v["low"], v["high"], v.get("log", False)) for key, v in space.items()}
    try:
        importance = measure_importance(scored, search.study)
        plot_tuning(trials, importance, search.out / PICTURE, label=label, ranges=ranges)
    except (DataError, ModelError) as error:  # no scikit-learn, no matplotlib
        say(f"no picture: {error}")
        return False
    return True
