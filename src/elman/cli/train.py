"""elman train: from one's own file, or from a recipe, to a model folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elman.cli.flags import FILES, TRAINING, WORDS, Flag, flagged
from elman.cli.terminal import on_device

if TYPE_CHECKING:
    from elman.learning.recipe import Recipe

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
      elman train tagger --train train.conllu --column upos --out models/pos
      elman train lm --train book.txt --tokens chars --out models/book
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
@_how
@flagged(
    {
        "--train": Flag(
            "data.train", "TSV, CSV or JSONL with columns text and label.", "FILE", required=True
        ),
        **FILES,
        "--text": Flag("data.text", "Name or number of the text's column.", "COLUMN"),
        "--label": Flag("data.label", "Name or number of the label's column.", "COLUMN"),
        "--tokens": Flag("tokens.kind", "words, whitespace, chars, bytes, bpe or unigram."),
        **WORDS,
        **TRAINING,
    }
)
def classifier(how: How, data: dict[str, Any]) -> None:
    """Train a text classifier.

    The defaults give a good model on a few thousand lines in a few minutes: a bidirectional LSTM, its
    outputs pooled by their maximum. Any key of a recipe can be set with --set.

    \b
    Examples:
      elman train classifier --train train.tsv --valid dev.tsv --out models/topics
      elman train classifier --train mails.csv --text body --label folder --cell gru --out models/mails
    """
    from elman.learning.recipe import build

    _run(build({"task": "classifier"} | data), how)


@train.command()
@_how
@flagged(
    {
        "--train": Flag("data.train", "CoNLL-U, or CoNLL columns.", "FILE", required=True),
        **FILES,
        "--column": Flag(
            "data.column",
            "Of the tags: a name or number, or several (upos,xpos). Default: upos, or the last.",
            "COLUMN",
        ),
        "--tokens": Flag("tokens.kind", "How raw text is cut later: words or whitespace."),
        "--output": Flag("model.output", "softmax, crf or feedback; default: crf for spans."),
        **WORDS,
        **TRAINING,
    }
)
def tagger(how: How, data: dict[str, Any]) -> None:
    """Train a tagger: parts of speech, chunks, entities, slots.

    The defaults read words and their characters with a bidirectional LSTM; tags that mark spans (BIO,
    IOB1, BIOES) are decided together by a CRF, others one by one. Any key of a recipe can be set with --set.

    \b
    Examples:
      elman train tagger --train train.conllu --valid dev.conllu --column upos --out models/pos
      elman train tagger --train ner.conll --out models/ner --vectors glove.txt
    """
    from elman.learning.recipe import build

    _run(build({"task": "tagger"} | data), how)


@train.command()
@_how
@flagged(
    {
        "--train": Flag("data.train", "Text, one line after the other.", "FILE", required=True),
        **FILES,
        "--tokens": Flag("tokens.kind", "words, whitespace, chars, bytes, bpe or unigram."),
        "--size": Flag("tokens.size", "The most tokens that are known.", "N", int),
        **WORDS,
        "--hidden": Flag("model.hidden", "Units of a layer.", "N", int),
        "--embedding": Flag("model.embedding", "Features of a token.", "N", int),
        **TRAINING,
        "--epochs": Flag("training.epochs", "Times that the text is read.", "N", int),
        "--batch": Flag("data.batch", "Streams of text side by side.", "N", int),
        "--steps": Flag("data.steps", "Tokens of a window, through which gradients go.", "N", int),
    }
)
def lm(how: How, data: dict[str, Any]) -> None:
    """Train a language model: what comes next in a text.

    The text may be larger than memory: it is encoded once, into a cache folder. Without --valid its last
    tenth is held out. Any key of a recipe can be set with --set.

    \b
    Examples:
      elman train lm --train book.txt --tokens chars --out models/book
      elman train lm --train train.txt --valid valid.txt --minutes 10 --out models/wiki
    """
    from elman.learning.recipe import build

    _run(build({"task": "lm"} | data), how)


def _recipe_command(path: str) -> click.Command:
    @click.command(name=path)
    @_how
    def recipe(how: How, sets: tuple[str, ...]) -> None:
        """Train by a recipe."""
        from elman.learning.recipe import read

        _run(read(path, sets), how)

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
            if name not in ("examples", "tokens", "sentences"):
                click.echo(f"{part} {name} {mean(values):.2f}{spread}")
