"""A training run from the command line: its options, its seeds, its report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import wraps
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from elman.cli.terminal import COUNT, FOLDER, INTERRUPTED, add_options, device_option, option, say
from elman.tasks.registry import TASKS

if TYPE_CHECKING:
    from elman.pipeline.recipe import Recipe


@dataclass(frozen=True)
class RunOptions:
    """The options of a run that are not part of its recipe."""

    out: Path
    seeds: int
    resume: bool
    device: str
    init: Path | None
    threads: int


def with_run_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a training command the options that all of them have; they arrive as its first argument."""

    @wraps(command)
    def wrapper(**options: Any) -> None:
        run = RunOptions(**{f.name: options.pop(f.name) for f in fields(RunOptions)})
        command(run, **options)

    keys = "Set any key of a recipe, such as training.grad_clip=5; a model's config.json has them all."
    seeds = "Train N times, with seeds 0, 1, …; report mean and standard deviation."
    options = (
        option("--out DIR", "The model folder to write.", type=FOLDER, required=True),
        option("--set KEY=VALUE", keys, "sets", multiple=True),
        option("--seeds N", seeds, type=COUNT, default=1),
        option("--resume", "Resume an interrupted run from its last checkpoint in --out.", is_flag=True),
        device_option,
        option("--init DIR", "Start from the weights of this model (fine-tuning).", type=FOLDER),
        option("--threads N", "CPU threads.  [default: one per core]", default=0),
    )
    return add_options(wrapper, options)


def run_training(recipe: Recipe, run: RunOptions) -> None:
    """Train once, or once for each seed, and print the scores."""
    import torch

    from elman.pipeline import run_recipe
    from elman.training.distributed import is_main_process

    if run.threads:
        torch.set_num_threads(run.threads)
    results = []
    for number in range(run.seeds):
        folder, chosen = run.out, recipe
        if run.seeds > 1:
            folder = run.out / f"seed-{number}"
            chosen = replace(recipe, training=replace(recipe.training, seed=number))
        begun = run.resume and (run.seeds == 1 or folder.exists())  # later seeds have nothing to resume
        outcome = run_recipe(chosen, folder, resume=begun, device=run.device, init=run.init)
        if outcome is None:
            if is_main_process():
                say("to resume, run the same command with --resume")
            raise click.exceptions.Exit(INTERRUPTED)
        results.append(outcome.metrics)
        if is_main_process():
            say(f"model: {folder}")
    if is_main_process():
        _report(results)
        if run.seeds == 1:
            say(f"next: {TASKS[recipe.task].next_command.format(quote(str(run.out)))}")


def _report(results: list[dict[str, Any]]) -> None:
    """The mean of every score, and its standard deviation over seeds."""
    from statistics import mean, stdev

    for part in ("valid", "test"):
        scored = [r[part] for r in results if r.get(part)]
        for name in next(iter(scored), {}):
            values = [scores[name] for scores in scored]
            spread = f" ± {stdev(values):.2f} ({len(values)} seeds)" if len(values) > 1 else ""
            if name not in ("examples", "tokens", "sentences"):
                click.echo(f"{part} {name} {mean(values):.2f}{spread}")
