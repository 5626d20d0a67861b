"""elman inspect: what a model is, how it was trained, and what it does while it reads a text."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elman.cli.model_args import model_argument
from elman.cli.terminal import FOLDER, option, picture_format_option, print_table
from elman.errors import ConfigError
from elman.picture_files import PictureFolder, plan_picture
from elman.ranges import PositiveInt

if TYPE_CHECKING:
    from elman.inspect.executors import ExecutorChoice


@click.command(short_help="Describe a model and explain its answers.")
@model_argument
@option("--text", "Explain the model on this text: gates, saliency, surprisal.")
@option(
    "--word N",
    "Explain only the tag of word N, token N of the answer, or the prediction of token N.",
    type=PositiveInt,
)
@option(
    "--exposure FILE",
    "Measure exposure bias on these examples; repeat for two files.",
    multiple=True,
    type=click.Path(),
)
@option("--executors", "Show which executor runs each recurrent cell, and why.", is_flag=True)
@option("--out DIR", "Write plots into this folder.", type=FOLDER)
@picture_format_option
@option("--json", "Print one JSON object on stdout, nothing else.", "as_json", is_flag=True)
def inspect(
    folder: Path,
    text: str | None,
    word: int | None,
    exposure: tuple[str, ...],
    executors: bool,
    out: Path | None,
    format: str | None,
    as_json: bool,
) -> None:
    """Describe the model in DIR: its layers, formulas, training and scores.

    With --text it also explains one answer: the gates of every layer, the saliency of each token
    (gradient × input: red for the answer, blue against it), the attention weights, and the surprisal of each
    token. The answer is a classifier's label, the tag of each word, the next token of a language model, or
    each token of a translation, each compared with the next best one.

    With --exposure it measures exposure bias: how much worse a language model, a sequence-to-sequence model
    or an autoregressive tagger gets when it reads its own output instead of the right tokens, by position
    and after k tokens of its own.

    With --executors it shows what runs each recurrent cell, in training and in prediction, and why no faster
    executor does.

    \b
    Examples:
      elman inspect models/topics
      elman inspect models/topics --text "How far is the moon?" --out pictures --format pdf
      elman inspect models/pos --text "Time flies." --word 2
      elman inspect models/pos --executors
      elman inspect models/en-de --exposure test.en --exposure test.de --out pictures
    """
    from elman.cli.inspect_exposure import exposure_json, exposure_on_files, plot_exposure, show_exposure
    from elman.cli.inspect_model import model_json, plot_training, read_model_folder, show_model
    from elman.cli.inspect_text import explanation_json, plot_explanation, show_explanation
    from elman.inspect.executors import executor_choices
    from elman.inspect.text_explanation import explain

    pictures = _plan_pictures(out, format)
    if word is not None and text is None:
        raise ConfigError("--word says which word of a text, but --text is missing")
    seen = read_model_folder(folder)
    found = model_json(seen)
    explanation = None if text is None else explain(seen.model, text, word=word)
    running = exposure_on_files(seen, exposure) if exposure else None
    choices = executor_choices(seen.model.net) if executors else None
    if pictures is not None:
        pictures.folder.mkdir(parents=True, exist_ok=True)
        plot_training(seen, pictures)
        if explanation is not None:
            plot_explanation(explanation, pictures)
        if running is not None:
            plot_exposure(running, pictures)
    if as_json:
        extra: dict[str, Any] = {} if explanation is None else {"text": explanation_json(explanation)}
        extra |= {} if running is None else {"exposure": exposure_json(running)}
        extra |= {} if choices is None else {"executors": [asdict(choice) for choice in choices]}
        click.echo(json.dumps(found | extra, ensure_ascii=False))
        return
    show_model(found)
    if explanation is not None:
        show_explanation(explanation)
    if running is not None:
        show_exposure(running)
    if choices is not None:
        _show_executors(choices)


def _plan_pictures(out: Path | None, format: str | None) -> PictureFolder | None:
    """Where plots go, if they can be drawn; None where none are asked for."""
    if out is None:
        if format is not None:
            raise ConfigError("--format is that of plots, but --out is missing: which folder?")
        return None
    pictures = PictureFolder(out, format or "png")
    plan_picture(pictures.path("any"))
    return pictures


def _show_executors(choices: list[ExecutorChoice]) -> None:
    """A row for each cell and mode, on stdout."""
    from elman.inspect.executors import ROWS, STEPS

    click.echo(f"\nexecutors on the CPU, for {ROWS} sequences of up to {STEPS} tokens")
    print_table(
        ["layer", "cell", "mode", "executor", "why not a faster one"],
        [
            [c.name, c.cell, c.mode, c.executor, "; ".join(f"{n}: {r}" for n, r in c.reasons.items())]
            for c in choices
        ],
    )
