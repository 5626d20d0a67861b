"""elman train: from one's own file, or from a recipe, to a model folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elman.cli.terminal import on_device

if TYPE_CHECKING:
    from elman.learning import Recipe

FOLDER = click.Path(file_okay=False, path_type=Path)


class Train(click.Group):
    """A group in which a file RECIPE.toml is a command too."""

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name.endswith(".toml"):
            return _recipe_command(name)
        return super().get_command(context, name)


@click.group(cls=Train, subcommand_metavar="TASK|RECIPE.toml [OPTIONS]")
def train() -> None:
    """Train a model: a task on your own file, or a recipe.

    \b
    Examples:
      elman train classifier --train questions.tsv --out models/questions
      elman train recipes/trec.toml --out models/trec --set model.hidden=256
      elman train recipes/trec.toml --out models/trec --resume
    """


@dataclass(frozen=True)
class How:
    """The options of a run that are no part of its recipe."""

    out: Path
    seeds: int
    resume: bool
    device: str
    init: Path | None
    threads: int


def _how(command: Callable[..., None]) -> Callable[..., None]:
    """Give a training command the options that all of them have, gathered as its first argument."""

    @wraps(command)
    def gathered(**options: Any) -> None:
        how = How(**{f.name: options.pop(f.name) for f in fields(How)})
        command(how, **options)

    made: Callable[..., None] = gathered
    for option in (
        click.option("--out", type=FOLDER, required=True, help="The model folder to write."),
        click.option(
            "--set",
            "sets",
            multiple=True,
            metavar="KEY=VALUE",
            help="Any key of a recipe, such as training.clip=5.",
        ),
        click.option(
            "--seeds",
            type=click.IntRange(min=1),
            default=1,
            show_default=True,
            help="Train so many times, with seeds 0, 1, …; report mean and spread.",
        ),
        click.option(
            "--resume", is_flag=True, help="Go on where an interrupted run in --out stopped."
        ),
        on_device,
        click.option("--init", type=FOLDER, help="Start from the model in this folder."),
        click.option("--threads", default=0, help="CPU threads; 0: as many as there are cores."),
    ):
        made = option(made)
    return made


@train.command()
@click.option(
    "--train",
    "train_file",
    required=True,
    metavar="FILE",
    help="TSV, CSV or JSONL with columns text and label.",
)
@click.option(
    "--valid",
    metavar="FILE",
    help="Chooses the best weights; without it a tenth of --train is held out.",
)
@click.option("--test", metavar="FILE", help="Scored once, at the end.")
@click.option("--text", metavar="COLUMN", help="Name or number of the text's column.")
@click.option("--label", metavar="COLUMN", help="Name or number of the label's column.")
@click.option("--encoding", help="Of the files, for example latin-1.")
@click.option("--tokens", help="words, whitespace, chars, bytes, bpe or unigram.")
@click.option("--cell", help="lstm, gru, elman, relu, peephole-lstm, …")
@click.option("--hidden", type=int, help="Units of each direction.")
@click.option("--layers", type=int)
@click.option("--dropout", type=float)
@click.option("--vectors", metavar="FILE", help="Pretrained word vectors.")
@click.option("--epochs", type=int)
@click.option("--batch", type=int, help="Tokens a batch.")
@click.option("--lr", type=float, help="Highest learning rate.")
@click.option("--minutes", type=float, help="Stop after so long with the best model so far.")
@click.option("--seed", type=int)
@_how
def classifier(how: How, sets: tuple[str, ...], **flags: Any) -> None:
    """Train a text classifier.

    The defaults give a good model on a few thousand lines in a few minutes: a bidirectional LSTM, its
    outputs pooled by their maximum. Any key of a recipe can be set with --set.

    \b
    Examples:
      elman train classifier --train train.tsv --valid dev.tsv --out models/topics
      elman train classifier --train mails.csv --text body --label folder --cell gru --out models/mails
    """
    from elman.config import build, override
    from elman.learning import Recipe

    data: dict[str, Any] = {"task": "classifier"}
    for flag, value in flags.items():
        if value is not None:
            data = _put(data, KEYS[flag].split("."), value)
    for text in sets:
        data = override(data, text)
    _run(build(Recipe, data), how)


KEYS = {
    "train_file": "data.train",
    "valid": "data.valid",
    "test": "data.test",
    "text": "data.text",
    "label": "data.label",
    "encoding": "data.encoding",
    "tokens": "tokens.kind",
    "cell": "model.cell",
    "hidden": "model.hidden",
    "layers": "model.layers",
    "dropout": "model.dropout",
    "vectors": "model.vectors",
    "epochs": "training.epochs",
    "batch": "data.batch",
    "lr": "training.lr",
    "minutes": "training.minutes",
    "seed": "training.seed",
}
"""Which key of a recipe a flag sets."""


def _put(data: dict[str, Any], path: list[str], value: Any) -> dict[str, Any]:
    first, *rest = path
    return {**data, first: _put(data.get(first, {}), rest, value) if rest else value}


def _recipe_command(path: str) -> click.Command:
    @click.command(name=path)
    @_how
    def recipe(how: How, sets: tuple[str, ...]) -> None:
        """Train by a recipe."""
        from elman.config import read
        from elman.learning import Recipe

        _run(read(Recipe, path, sets), how)

    return recipe


def _run(recipe: Recipe, how: How) -> None:
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
            raise click.exceptions.Exit(1)
        results.append(outcome.metrics)
        if leads():
            say(f"model: {folder}")
    if leads():
        _report(results)


def _report(results: list[dict[str, Any]]) -> None:
    """Mean, and spread over seeds, of every score."""
    from statistics import mean, stdev

    for part in ("valid", "test"):
        scored: Iterable[dict[str, float]] = [r[part] for r in results if r.get(part)]
        for name in next(iter(scored), {}):
            values = [scores[name] for scores in scored]
            spread = f" ± {stdev(values):.2f} ({len(values)} seeds)" if len(values) > 1 else ""
            if name != "examples":
                click.echo(f"{part} {name} {mean(values):.2f}{spread}")
