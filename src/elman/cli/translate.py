"""elman translate: a text in, a text out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from elman.cli.answers import print_answers
from elman.cli.decoding_options import ANSWER_OPTIONS, DecodingOptions, with_decoding_options
from elman.cli.model_args import load_for_verb, model_argument, text_file_argument, with_input_options
from elman.cli.output_file import TABLES, AnswerOptions, with_answer_options


@click.command(short_help="Translate each line with a sequence-to-sequence model.")
@model_argument
@text_file_argument
@with_decoding_options(ANSWER_OPTIONS)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each line, with all scores.")
@click.option("--format", type=click.Choice(["lines", *TABLES]), help="What FILE is. [default: by its ending]")
@with_answer_options
@with_input_options
def translate(
    folder: Path, file: str, decoding: DecodingOptions, output: AnswerOptions, **options: Any
) -> None:
    """Translate each line of FILE (default: standard input) with a sequence-to-sequence model.

    A line in, a line out; an empty line is answered by an empty one. Several answers are on one line,
    separated by tabs, each with its score, the mean log-probability per token. A table (.csv, .tsv, .jsonl,
    .parquet, .xlsx) is written with columns prediction and score added.

    \b
    Examples:
      elman translate models/en-de news.en > news.de
      echo "a man sleeps" | elman translate models/en-de --n-best 3
      echo "a man sleeps" | elman translate models/en-de --attention man.png --show-attention
      echo "a man sleeps" | elman translate models/en-de --beam 4 --beam-tree tree.png
      elman translate models/en-de news.en --with models/second --with models/third --beam 10
      tail -f news.en | elman translate models/en-de --line-buffered
    """
    model = load_for_verb("translate", folder, options["device"])
    print_answers(model, file, decoding, output, name=folder.resolve().name, **options)
