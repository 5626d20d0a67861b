"""elman train: from one's own file, or from a recipe, to a model folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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


def _how(command: Callable[..., None]) -> Callable[..., None]:
    """The options that every training command has."""
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
        command = option(command)
    return command


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
@click.option("--cell", help="lstm, gru, elman, … (`elman compare x` lists them).")
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
def classifier(
    sets: tuple[str, ...],
    out: Path,
    seeds: int,
    resume: bool,
    device: str,
    init: Path | None,
    threads: int,
    **flags: Any,
) -> None:
    """Train a text classifier.

    The defaults give a good model on a few thousand lines in a few minutes: a bidirectional LSTM, its
    outputs pooled by their maximum. Any key of a recipe can be set with --set.

    \b
    Examples:
      elman train classifier --train train.tsv --valid dev.tsv --out models/topics
      elman train classifier --train mails.csv --text body --label folder --cell gru --out models/mails
    """
    from elman.config import build, override

    data: dict[str, Any] = {"task": "classifier"}
    for flag, value in flags.items():
        if value is not None:
            key = KEYS[flag]
            data = _put(data, key.split("."), value)
    for text in sets:
        data = override(data, text)
    from elman.learning import Recipe

    _run(build(Recipe, data), out, seeds, resume, device, init, threads)


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
    def recipe(
        sets: tuple[str, ...],
        out: Path,
        seeds: int,
        resume: bool,
        device: str,
        init: Path | None,
        threads: int,
    ) -> None:
        """Train by a recipe."""
        from elman.config import read
        from elman.learning import Recipe

        _run(read(Recipe, path, sets), out, seeds, resume, device, init, threads)

    return recipe


def _run(
    recipe: Recipe,
    out: Path,
    seeds: int,
    resume: bool,
    device: str,
    init: Path | None,
    threads: int,
) -> None:
    import dataclasses

    import torch

    from elman.cli.terminal import say
    from elman.learning import learn
    from elman.training.distributed import leads

    if threads:
        torch.set_num_threads(threads)
    results = []
    for number in range(seeds):
        folder, chosen = out, recipe
        if seeds > 1:
            folder = out / f"seed-{number}"
            training = dataclasses.replace(recipe.training, seed=number)
            chosen = dataclasses.replace(recipe, training=training)
        begun = resume and (seeds == 1 or folder.exists())  # later seeds have nothing to resume
        outcome = learn(chosen, folder, resume=begun, device=device, init=init)
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
