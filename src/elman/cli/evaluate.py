"""elman evaluate: the task's metrics on a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elman.cli.terminal import on_device

if TYPE_CHECKING:
    from elman.metrics import LabelScore
    from elman.tasks.classifier import Classifier
    from elman.tasks.language_model import LanguageModel
    from elman.tasks.tagger import Tagger

COUNTS = ("examples", "tokens", "sentences")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--text",
    metavar="COLUMN",
    help="Of a classifier's texts: name or number, if not as in training.",
)
@click.option("--label", metavar="COLUMN", help="Of a classifier's labels.")
@click.option("--column", metavar="COLUMN", help="Of a tagger's tags.")
@click.option("--encoding", help="Of the files, for example latin-1.")
@click.option("--cache", is_flag=True, help="Of a language model: words said lately are likelier.")
@click.option("--dynamic", is_flag=True, help="Of a language model: it learns from what it read.")
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="KEY=VALUE",
    help="Of these two, such as cache.window=3800 or dynamic.rate=0.001.",
)
@on_device
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else."
)
def evaluate(
    folder: Path, files: tuple[str, ...], device: str, as_json: bool, **options: Any
) -> None:
    """Score a model on examples that have the right answers, or a language model on text.

    FILES are read as in training: one file, or one of texts and one of labels or tags.

    \b
    Examples:
      elman evaluate models/topics test.tsv
      elman evaluate models/pos test.conllu --json
      elman evaluate models/wiki test.txt --cache --set cache.window=3800
    """
    from elman import artifact
    from elman.config import build
    from elman.errors import ConfigError
    from elman.tasks.classifier import Classifier
    from elman.tasks.kinds import TASKS
    from elman.tasks.language_model import LanguageModel

    config = artifact.read_config(folder)
    kind = TASKS[config["task"]]
    data = build(kind.data, config["data"])
    adapted = _adapted(options.pop("sets"), options.pop("cache"), options.pop("dynamic"))
    if adapted and config["task"] != "lm":
        raise ConfigError(f"--{next(iter(adapted))} is not for a {config['task']}")
    changed: dict[str, str | None] = options
    for name, value in changed.items():
        if value is not None and not hasattr(data, name):
            raise ConfigError(f"--{name} is not for a {config['task']}")
    data = replace(data, **{name: value for name, value in changed.items() if value is not None})
    model: Any = artifact.load(folder, device=device)
    examples = model.encode(kind.read(data, files if len(files) > 1 else files[0]))
    if isinstance(model, LanguageModel):
        found = _read(model, examples, adapted, show=not as_json)
    else:
        report = _classified if isinstance(model, Classifier) else _tagged
        found = report(model, examples, show=not as_json)
    if as_json:
        click.echo(json.dumps(found))


def _adapted(sets: tuple[str, ...], cache: bool, dynamic: bool) -> dict[str, Any]:
    """The ways to adapt to a text that were asked for, by name."""
    from elman.config import build, override
    from elman.errors import ConfigError
    from elman.tasks.language_model import Adapted

    data: dict[str, Any] = {}
    for text in sets:
        data = override(data, text)
    ways, asked = build(Adapted, data), {"cache": cache, "dynamic": dynamic}
    for name in data:
        if not asked[name]:
            raise ConfigError(f"--set {name} says how, but --{name} was not asked for")
    return {name: getattr(ways, name) for name, wanted in asked.items() if wanted}


def _read(
    model: LanguageModel, text: Any, adapted: Mapping[str, Any], *, show: bool
) -> dict[str, Any]:
    """Perplexity, and the same in other units."""
    scores = model.evaluate(text, **adapted)
    if show:
        for name, value in scores.items():
            click.echo(f"{name} {value:.0f}" if name in COUNTS else f"{name} {value:.4f}")
    return dict(scores)


def _classified(model: Classifier, examples: Any, *, show: bool) -> dict[str, Any]:
    """The scores, each label, and which was taken for which."""
    from elman.cli.terminal import table
    from elman.metrics import confusion, label_scores

    scores = model.evaluate(examples)
    gold, guess = model.judged(examples)
    matrix, each = confusion(gold, guess), label_scores(gold, guess)
    if show:
        _numbers(scores)
        _labels(each, "examples")
        click.echo("confusion (rows: right, columns: guessed)")
        rows = zip(matrix.labels, matrix.counts, strict=True)
        table(["", *matrix.labels], [[name, *map(str, row)] for name, row in rows])
    return {
        **scores,
        "labels": {name: asdict(score) for name, score in each.items()},
        "confusion": {"labels": matrix.labels, "counts": matrix.counts},
    }


def _tagged(model: Tagger, examples: Any, *, show: bool) -> dict[str, Any]:
    """The scores, and each kind of span, or each tag, of each column."""
    from elman.metrics import label_scores, span_scores
    from elman.text.spans import spans

    guesses = model.guessed(examples)
    scores = model.scores(examples, guesses)
    if show:
        _numbers(scores)
    found = {}
    for i, (tagset, guess) in enumerate(zip(model.tagsets, guesses, strict=True)):
        gold = [e.tags[i] for e in examples.examples]
        if tagset.written:
            each = span_scores([*map(spans, gold)], [*map(spans, guess)]).labels
        else:
            each = label_scores([t for s in gold for t in s], [t for s in guess for t in s])
        if show:
            click.echo(f"column {tagset.column}")
            _labels(each, "spans" if tagset.written else "words")
        found[tagset.column] = {name: asdict(score) for name, score in each.items()}
    return {**scores, "labels": found if len(found) > 1 else next(iter(found.values()))}


def _numbers(scores: Mapping[str, float]) -> None:
    for name, value in scores.items():
        click.echo(f"{name} {value:.0f}" if name in COUNTS else f"{name} {value:.2f}")


def _labels(each: Mapping[str, LabelScore], unit: str) -> None:
    from elman.cli.terminal import table

    table(
        ["label", "precision", "recall", "F1", unit],
        [
            [name, f"{s.precision:.1f}", f"{s.recall:.1f}", f"{s.f1:.1f}", str(s.support)]
            for name, s in each.items()
        ],
    )
