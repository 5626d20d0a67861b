"""elman predict: a line in, a line out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elman.cli.answers import print_answers
from elman.cli.decoding_options import ANSWER_OPTIONS, DecodingOptions, with_decoding_options
from elman.cli.model_args import load_model, model_argument, text_file_argument, with_input_options
from elman.cli.output_file import TABLES, AnswerOptions, with_answer_options
from elman.cli.terminal import option
from elman.errors import ConfigError, ModelError
from elman.ranges import Probability
from elman.tasks.registry import TASKS

if TYPE_CHECKING:
    from elman.tasks.base import Task


@click.command(short_help="Answer each line of a text or row of a table.")
@model_argument
@text_file_argument
@with_decoding_options(ANSWER_OPTIONS)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each line, with probabilities.")
@click.option(
    "--format",
    type=click.Choice(["lines", *TABLES, "raw", "conllu", "columns"]),
    help="What FILE is. For a tagger, lines are words separated by spaces, raw is raw text, and in conllu and "
    "columns the tag column is filled in. [default: by its ending, else lines]",
)
@option("--threshold P", "Give no label that is less likely than P.", type=Probability)
@option("--otherwise LABEL", "The answer below --threshold. [default: empty]")
@with_answer_options
@with_input_options
def predict(folder: Path, file: str, decoding: DecodingOptions, output: AnswerOptions, **options: Any) -> None:
    """Answer each line of FILE (default: standard input), or each row of a table: a label, tags, or a text.

    A table (CSV, TSV, JSONL, JSON, Parquet, Excel, by its ending or --format) comes out with columns label
    and confidence added, all else as it was; the text is read from the column that the model was trained on.

    A tagger fills its column in a CoNLL-U file and leaves everything else as it is; with --json or --top
    it prints a line for each sentence. A sequence-to-sequence model does what elman translate does; the
    options of beam search and of attention are for these.

    \b
    Examples:
      elman predict models/topics mails.csv --out answers.csv
      elman predict models/topics mails.xlsx --text Body --threshold 0.8 --otherwise unsure --out answers.xlsx
      elman predict models/topics texts.txt > labels.txt
      echo "How far is the moon?" | elman predict models/trec --top 3
      elman predict models/pos plain.conllu > tagged.conllu
      echo "Time flies." | elman predict models/pos --format raw
      elman predict models/en-de news.en > news.de
    """
    from elman import artifact

    name = artifact.read_config(folder)["task"]
    task = TASKS[name].load()
    if not task.predict_options:
        raise ModelError(f"{folder} holds {TASKS[name].owner}")
    decoding.reject_unknown(name, task.predict_options)
    if options["format"] not in (None, "lines", *TABLES) and "format" not in task.predict_options:
        raise ConfigError(f"--format {options['format']} is for taggers: a {name} reads lines and tables")
    options |= threshold_options(options.pop("threshold"), options.pop("otherwise"), task, decoding)
    model, called = load_model(folder, options["device"]), folder.resolve().name
    print_answers(model, file, decoding, output, name=called, **options)


def threshold_options(
    threshold: float | None, otherwise: str | None, task: type[Task], decoding: DecodingOptions
) -> dict[str, Any]:
    """Below which probability what is answered; both are refused where nothing would come of them."""
    if threshold is None:
        if otherwise is not None:
            raise ConfigError("--otherwise is the answer below --threshold P: give that, too")
        return {}
    if "threshold" not in task.predict_options:
        raise ConfigError(f"--threshold is for models that give a label, not for {task.spec.title}")
    if "n_best" in decoding.given:
        raise ConfigError("--threshold gives one answer, --top several: leave one of them out")
    return {"threshold": threshold, "otherwise": otherwise or ""}
