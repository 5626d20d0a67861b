"""elman predict: a line in, a line out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from elman.cli.answers import print_answers
from elman.cli.decoding_options import ANSWER_OPTIONS, DecodingOptions, with_decoding_options
from elman.cli.model_args import model_argument, text_file_argument, with_input_options
from elman.cli.terminal import say
from elman.errors import ConfigError, ModelError
from elman.tasks.registry import TASKS

TABLES = (".tsv", ".csv", ".jsonl")


@click.command(short_help="Answer each line of a text: a label, tags or a text.")
@model_argument
@text_file_argument
@with_decoding_options(ANSWER_OPTIONS)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each line, with probabilities.")
@click.option(
    "--format",
    type=click.Choice(["lines", "raw", "conllu", "columns"]),
    help="Input of a tagger: words separated by spaces, raw text, or a file whose tag column is filled in. "
    "Default: by the ending, .conllu or .conll, else lines.",
)
@with_input_options
def predict(folder: Path, file: str, decoding: DecodingOptions, device: str, **options: Any) -> None:
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
    from elman.text.files import file_extension

    name = artifact.read_config(folder)["task"]
    task = TASKS[name].load()
    if not task.predict_options:
        raise ModelError(f"{folder} holds {TASKS[name].owner}")
    decoding.reject_unknown(name, task.predict_options)
    if options["format"] and "format" not in task.predict_options:
        raise ConfigError(f"--format is for taggers: a {name} reads lines of text")
    if file_extension(file) in TABLES and not {"format", "table"} & task.predict_options:
        say(f"{file} is read as a text a line; it is elman evaluate that reads tables")
    print_answers(artifact.load(folder, device=device), file, decoding, device=device, **options)
