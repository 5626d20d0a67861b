"""elman evaluate: the task's metrics on a file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from elman.cli.folders import model_folder
from elman.cli.language import adaptable
from elman.cli.manner import SEARCH, Writing, writing
from elman.cli.terminal import on_device


@click.command(short_help="Score a model on a file.")
@model_folder
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@click.option(
    "--text",
    metavar="COLUMN",
    help="Of a classifier's texts: name or number, if not as in training.",
)
@click.option("--label", metavar="COLUMN", help="Of a classifier's labels.")
@click.option("--source", metavar="COLUMN", help="Of a table of pairs: the sources.")
@click.option("--target", metavar="COLUMN", help="Of a table of pairs: the targets.")
@click.option("--column", metavar="COLUMN", help="Of a tagger's tags.")
@click.option("--encoding", help="Of the files, for example latin-1.")
@adaptable
@writing(SEARCH)
@on_device
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else."
)
def evaluate(
    folder: Path,
    files: tuple[str, ...],
    ways: dict[str, Any],
    writing: Writing,
    device: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Score a model on examples that have the right answers, or a language model on text.

    Files are read as in training: one file, or one of texts and one of labels, tags or targets; a
    translation may have several targets, a file each.

    \b
    Examples:
      elman evaluate models/topics test.tsv
      elman evaluate models/pos test.conllu --json
      elman evaluate models/wiki test.txt --cache --set cache.window=3800
      elman evaluate models/en-de test.en test.de --beam 10
    """
    from elman import artifact
    from elman.cli import reports
    from elman.config import build
    from elman.errors import ConfigError
    from elman.tasks.classifier import Classifier
    from elman.tasks.kinds import TASKS
    from elman.tasks.language_model import LanguageModel
    from elman.tasks.seq2seq import Seq2Seq

    config = artifact.read_config(folder)
    kind = TASKS[config["task"]]
    data = build(kind.data, config["data"])
    if ways and config["task"] != "lm":
        raise ConfigError(f"--{next(iter(ways))} is not for a {config['task']}")
    if config["task"] != "seq2seq":
        writing.refuse(config["task"])
    changed: dict[str, str | None] = options
    for name, value in changed.items():
        if value is not None and not hasattr(data, name):
            raise ConfigError(f"--{name} is not for a {config['task']}")
    data = replace(data, **{name: value for name, value in changed.items() if value is not None})
    model: Any = artifact.load(folder, device=device)
    examples = model.encode(kind.read(data, files if len(files) > 1 else files[0]))
    if isinstance(model, LanguageModel):
        found = reports.read_text(model, examples, ways, show=not as_json)
    elif isinstance(model, Seq2Seq):
        found = reports.written(model, examples, writing, device, show=not as_json)
    else:
        report = reports.classified if isinstance(model, Classifier) else reports.tagged
        found = report(model, examples, show=not as_json)
    if as_json:
        click.echo(json.dumps(found))
