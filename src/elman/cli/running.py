"""A training run from the command line: its options, its seeds, its report."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from functools import wraps
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from elman.cli.terminal import INTERRUPTED, on_device

if TYPE_CHECKING:
    from elman.learning.recipe import Recipe

FOLDER = click.Path(file_okay=False, path_type=Path)

NEXT = {
    "classifier": 'echo "a text of yours" | elman predict {} --top 3',
    "tagger": 'echo "A sentence of yours." | elman predict {} --format raw',
    "lm": 'elman generate {} --prompt "a beginning of yours"',
    "seq2seq": 'echo "a text of yours" | elman translate {} --n-best 3',
}
"""By task, what to type when a model is there."""


@dataclass(frozen=True)
class How:
    """The options of a run that are no part of its recipe."""

    out: Path
    seeds: int
    resume: bool
    device: str
    init: Path | None
    threads: int


def run_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a training command the options that all of them have, gathered as its first argument."""

    @wraps(command)
    def gathered(**options: Any) -> None:
        how = How(**{f.name: options.pop(f.name) for f in fields(How)})
        command(how, **options)

    made: Callable[..., None] = gathered
    options = (
        click.option(
            "--out", type=FOLDER, metavar="DIR", required=True, help="The model folder to write."
        ),
        click.option(
            "--set",
            "sets",
            multiple=True,
            metavar="KEY=VALUE",
            help="Any key of a recipe, such as training.clip=5; a model's config.json has them all.",
        ),
        click.option(
            "--seeds",
            type=click.IntRange(min=1),
            metavar="N",
            help="Train N times, with seeds 0, 1, …; report mean and spread.",
            default=1,
        ),
        click.option(
            "--resume", is_flag=True, help="Go on where an interrupted run in --out stopped."
        ),
        on_device,
        click.option(
            "--init", type=FOLDER, metavar="DIR", help="Start from the model in this folder."
        ),
        click.option(
            "--threads", metavar="N", default=0, help="CPU threads.  [default: one for each core]"
        ),
    )
    for option in reversed(options):
        made = option(made)
    return made


def run(recipe: Recipe, how: How) -> None:
    """Train, once or once a seed, and print the scores."""
    import torch

    from elman.cli.terminal import say
    from elman.learning import learn
    from elman.training.distributed import leads

    if how.threads:
        torch.set_num_threads(how.threads)
    results = []
    for number in range(how.seeds):
        folder, chosen = how.out, recipe
        if how.seeds > 1:
            folder = how.out / f"seed-{number}"
            chosen = replace(recipe, training=replace(recipe.training, seed=number))
        begun = how.resume and (
            how.seeds == 1 or folder.exists()
        )  # later seeds have nothing to resume
        outcome = learn(chosen, folder, resume=begun, device=how.device, init=how.init)
        if outcome is None:
            if leads():
                say("go on with the same command and --resume")
            raise click.exceptions.Exit(INTERRUPTED)
        results.append(outcome.metrics)
        if leads():
            say(f"model: {folder}")
    if leads():
        _report(results)
        if how.seeds == 1:
            say(f"next: {NEXT[recipe.task].format(quote(str(how.out)))}")


def _report(results: list[dict[str, Any]]) -> None:
    """Mean, and spread over seeds, of every score."""
    from statistics import mean, stdev

    for part in ("valid", "test"):
        scored: Iterable[dict[str, float]] = [r[part] for r in results if r.get(part)]
        for name in next(iter(scored), {}):
            values = [scores[name] for scores in scored]
            spread = f" ± {stdev(values):.2f} ({len(values)} seeds)" if len(values) > 1 else ""
            if name not in ("examples", "tokens", "sentences"):
                click.echo(f"{part} {name} {mean(values):.2f}{spread}")
