"""elman predict: a line in, a line out."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elman.cli.folders import model_folder, refuse, text_file
from elman.cli.manner import ANSWERS, Writing, writing
from elman.cli.streaming import chunks, line_buffered
from elman.cli.terminal import on_device, say

if TYPE_CHECKING:
    from elman.tasks.classifier import Classifier

CHUNK = 512  # lines that are answered together
TABLES = (".tsv", ".csv", ".jsonl")


@click.command(short_help="Answer each line of a text: a label, tags or a text.")
@model_folder
@text_file
@writing(ANSWERS)
@click.option("--json", "as_json", is_flag=True, help="A JSON object a line, with probabilities.")
@click.option(
    "--format",
    type=click.Choice(["lines", "raw", "conllu", "columns"]),
    help="Taggers: words apart by blanks, raw text, or a file whose column is filled. "
    "Default: by the ending, .conllu or .conll, else lines.",
)
@line_buffered
@click.option("--encoding", default="utf-8", show_default=True)
@on_device
def predict(
    folder: Path,
    file: str,
    writing: Writing,
    as_json: bool,
    format: str | None,
    line_buffered: bool,
    encoding: str,
    device: str,
) -> None:
    """Print an answer for each line of FILE (default: standard input): a label, tags, or a text.

    A tagger fills its column in a CoNLL-U file and leaves everything else as it is; with --json or --top
    it prints a line for each sentence. A sequence-to-sequence model does what elman translate does; all
    options but --top, --json, --format, --line-buffered, --encoding and --device are for these.

    \b
    Examples:
      elman predict models/topics mails.txt > labels.txt
      echo "How far is the moon?" | elman predict models/trec --top 3
      elman predict models/pos plain.conllu > tagged.conllu
      echo "Time flies." | elman predict models/pos --format raw
      elman predict models/en-de news.en > news.de
    """
    from elman import artifact
    from elman.cli.tagging import tag_file
    from elman.cli.translate import answer
    from elman.errors import ConfigError
    from elman.tasks.seq2seq import Seq2Seq
    from elman.tasks.tagger import Tagger
    from elman.text.files import ending
    from elman.text.lines import lines

    task = artifact.read_config(folder)["task"]
    if task == "lm":
        raise refuse(folder, task)
    if task != "seq2seq":
        writing.refuse(task, but="n_best")
    if task != "tagger" and format:
        raise ConfigError(f"--format is for taggers: a {task} reads lines of text")
    if task != "tagger" and ending(file) in TABLES:
        say(f"{file} is read as a text a line; it is elman evaluate that reads tables")
    model: Any = artifact.load(folder, device=device)
    read = (line for _, line in lines(file, encoding=encoding))
    texts = chunks(read, file, CHUNK, line_buffered=line_buffered)
    if isinstance(model, Tagger):
        tag_file(
            model,
            file,
            writing.n_best,
            as_json,
            format=format,
            encoding=encoding,
            line_buffered=line_buffered,
        )
    elif isinstance(model, Seq2Seq):
        answer(model, texts, writing, as_json=as_json, device=device)
    else:
        _classify(model, texts, writing.n_best, as_json)


def _classify(model: Classifier, texts: Iterable[list[str]], top: int, as_json: bool) -> None:
    for some in texts:
        for line, prediction in zip(some, model.classify(some), strict=True):
            best = islice(prediction.probabilities.items(), top)
            if as_json:
                click.echo(json.dumps({"text": line, **prediction._asdict()}, ensure_ascii=False))
            elif top == 1:
                click.echo(prediction.label)
            else:
                click.echo("\t".join(f"{name} {chance:.4f}" for name, chance in best))
