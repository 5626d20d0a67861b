"""A training run from the command line: its options, its seeds, its report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from elman.cli.terminal import FOLDER, add_options, device_option, option, overwrite_option, say, typed_command
from elman.cli.training_series import check_series, describe_next, describe_series, plan_series, write_series
from elman.folders.folder_contents import find_run
from elman.interruption import exit_code
from elman.number_format import format_percent
from elman.ranges import FoldCount, RunCount, ThreadCount
from elman.tasks.registry import TASKS

if TYPE_CHECKING:
    from elman.pipeline.recipe import Recipe
    from elman.pipeline.seed_summary import SeedRun


CURVE = "Also train on 10, 20, 40 and 70 % of the data: a learning curve, as table and picture in --out."


@dataclass(frozen=True)
class RunOptions:
    """The options of a run that are not part of its recipe."""

    out: Path
    seeds: int
    folds: int
    resume: bool
    overwrite: bool
    device: str
    init: Path | None
    threads: int
    curve: bool
    given: frozenset[str] | None = None  # keys; all others are chosen by the data; None: by a recipe


def with_run_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a training command the options that all of them have; they arrive as its first argument."""

    @wraps(command)
    def wrapper(**options: Any) -> None:
        run = RunOptions(**{f.name: options.pop(f.name) for f in fields(RunOptions) if f.name in options})
        command(run, **options)

    keys = "Set any key of a recipe, such as training.grad_clip=5; a model's config.json has them all."
    seeds = "Train N times, with seeds 0, 1, …; report mean and standard deviation."
    folds = "Cross-validation: train K times, each tested on another K-th of --train; mean and deviation."
    options = (
        option("--out DIR", "The model folder to write.", type=FOLDER, required=True),
        option("--set KEY=VALUE", keys, "sets", multiple=True),
        option("--seeds N", seeds, type=RunCount, default=1),
        option("--folds K", folds, type=FoldCount, default=0),
        option("--resume", "Resume an interrupted run from its last checkpoint in --out.", is_flag=True),
        overwrite_option,
        device_option,
        option(
            "--init DIR", "Start from this model (fine-tuning); it learns new labels and words.", type=FOLDER
        ),
        option("--threads N", "CPU threads; 0: one per core.", type=ThreadCount, default=0),
        option("--curve", CURVE, is_flag=True),
    )
    return add_options(wrapper, options)


def run_training(recipe: Recipe, run: RunOptions) -> None:
    """Train once, or once for each seed, and print the scores."""
    import torch

    from elman.kernels.reused_memory import keep_freed_memory
    from elman.pipeline.recipe import hold_pipes
    from elman.training.distributed import is_main_process

    check_series(run)
    keep_freed_memory()
    if run.threads:
        torch.set_num_threads(run.threads)
    if is_main_process():
        _check_folders(recipe, run)
    recipe = hold_pipes(recipe)
    if run.curve:
        _train_smaller(recipe, run)
    runs, series = [], plan_series(recipe, run)
    for chosen, folder in series:
        alone = len(series) == 1 and not run.curve
        begun = run.resume and (alone or bool(find_run(folder)))  # what was to come later has nothing to resume
        runs.append(_train(chosen, folder, run, begun=begun))
        if is_main_process():
            say(f"model: {folder}")
            write_series(runs, run)  # after each: an interrupted series has one, too
    if is_main_process():
        for line in describe_series(runs, run):
            click.echo(line)
        if run.curve:
            _report_curve(recipe, run)
        _say_next(recipe, runs, run)


def _check_folders(recipe: Recipe, run: RunOptions) -> None:
    """Refuse the folders of a series before its first training, not when it is their turn."""
    from elman.folders.output_folder import check_may_begin
    from elman.pipeline.learning_curve import smaller_runs
    from elman.training.distributed import was_restarted

    folders = [run.out, *(folder for _, folder in plan_series(recipe, run))]
    if run.curve:
        folders += [smaller.folder for smaller in smaller_runs(recipe, run.out, _seeds(recipe, run))]
    resumes = run.resume or was_restarted()
    for folder in folders:
        if not (resumes and find_run(folder)):
            check_may_begin(folder, overwrite=run.overwrite)


def _train(recipe: Recipe, folder: Path, run: RunOptions, *, begun: bool) -> SeedRun:
    from elman.pipeline import run_recipe
    from elman.pipeline.seed_summary import SeedRun
    from elman.training.distributed import is_main_process

    options: dict[str, Any] = {"resume": begun, "overwrite": run.overwrite}
    options |= {"device": run.device, "init": run.init, "given": run.given}
    outcome = run_recipe(recipe, folder, command=typed_command(), **options)
    if outcome is None:
        if is_main_process():
            say("to resume, run the same command with --resume")
        raise click.exceptions.Exit(exit_code())
    return SeedRun.of(outcome.model, outcome.metrics)


def _say_next(recipe: Recipe, runs: list[SeedRun], run: RunOptions) -> None:
    if run.folds or run.seeds > 1:
        for line in describe_next(runs, run):
            say(line)
        return
    spec, folder = TASKS[recipe.task], quote(str(run.out))
    say(f"next: {spec.next_command.format(folder)}")
    if (ending := _table_ending(recipe.data.train)) and spec.load().predict_options:
        say(f"a table: elman predict {folder} new{ending} --out answers{ending}")


def _table_ending(source: str | tuple[str, ...]) -> str:
    """The ending of a file that is a table, which new tables probably have, too; else nothing."""
    from elman.text.byte_source import file_extension
    from elman.text.tables import table_format

    is_table = isinstance(source, str) and table_format(source) not in (None, "folder")
    return file_extension(str(source)) if is_table else ""


def _train_smaller(recipe: Recipe, run: RunOptions) -> None:
    """The trainings of a learning curve on parts of the data."""
    from elman.pipeline.learning_curve import smaller_runs
    from elman.training.distributed import is_main_process

    for chosen, folder in smaller_runs(recipe, run.out, _seeds(recipe, run)):
        if is_main_process():
            say(f"learning curve: {format_percent(chosen.data.share)} of the data, seed {chosen.training.seed}")
        _train(chosen, folder, run, begun=run.resume and bool(find_run(folder)))


def _report_curve(recipe: Recipe, run: RunOptions) -> None:
    from elman.cli.curve_report import report_curve
    from elman.pipeline.learning_curve import read_curve
    from elman.pipeline.seed_summary import folder_name

    seeds = _seeds(recipe, run)
    full = [run.out / folder_name(seed) for seed in seeds] if run.seeds > 1 else [run.out]
    report_curve(read_curve(run.out, full, seeds), run.out)


def _seeds(recipe: Recipe, run: RunOptions) -> list[int]:
    return [*range(run.seeds)] if run.seeds > 1 else [recipe.training.seed]
