"""elman inspect: what a model is, how it was trained, and what it does while it reads a text."""

from __future__ import annotations

import json
from pathlib import Path

import click

from elman.cli.folders import model_folder


@click.command(short_help="Say what a model is, and what it does as it reads.")
@model_folder
@click.option("--text", help="Look at the model while it reads this: gates, saliency, surprise.")
@click.option(
    "--word",
    type=click.IntRange(min=1),
    metavar="N",
    help="Explain the tag of word N alone, token N of an answer, or why token N was expected.",
)
@click.option(
    "--exposure",
    multiple=True,
    type=click.Path(),
    metavar="FILE",
    help="Measure exposure bias on these examples: of models that read what they wrote.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where to draw pictures (PNG); without it none are drawn.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else."
)
def inspect(
    folder: Path,
    text: str | None,
    word: int | None,
    exposure: tuple[str, ...],
    out: Path | None,
    as_json: bool,
) -> None:
    """Say what the model in DIR is, how it was trained and what it scored.

    With --text also what happens while it reads: the gates of every layer, how much each token says for the
    answer (gradient × input: red for it, blue against), where the model attends, if it does, and how
    surprising each token was. The answer is a classifier's label, the tag of each word, the token that a
    language model expects next, or each token that a sequence-to-sequence model writes, each against the
    next best one.

    With --exposure (twice for two files, source and target) how much worse a language model, a
    sequence-to-sequence model or a tagger with fed-back tags gets when it reads its own words, not the
    right ones: by position, and after k words of its own.

    \b
    Examples:
      elman inspect models/topics
      elman inspect models/topics --text "How far is the moon?" --out pictures
      elman inspect models/pos --text "Time flies." --word 2
      elman inspect models/en-de --exposure test.en --exposure test.de --out pictures
    """
    from elman.cli.inspect_exposure import draw_exposed, expose, exposed, show_exposure
    from elman.cli.inspect_model import draw_run, look, show_model, told
    from elman.cli.inspect_text import draw_reading, numbers, show_reading
    from elman.errors import ConfigError
    from elman.inspect.readers import read_text

    if word is not None and text is None:
        raise ConfigError("--word says which word of a text, but --text is missing")
    seen = look(folder)
    found = told(seen)
    reading = None if text is None else read_text(seen.model, text, word=word)
    running = expose(seen, exposure) if exposure else None
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        draw_run(seen, out)
        if reading is not None:
            draw_reading(reading, out)
        if running is not None:
            draw_exposed(running, out)
    if as_json:
        extra = {} if reading is None else {"text": numbers(reading)}
        extra |= {} if running is None else {"exposure": exposed(running)}
        click.echo(json.dumps(found | extra, ensure_ascii=False))
        return
    show_model(found)
    if reading is not None:
        show_reading(reading)
    if running is not None:
        show_exposure(running)
