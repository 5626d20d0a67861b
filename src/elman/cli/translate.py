"""elman translate: a text in, a text out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elman.cli.folders import model_folder, text_file, translator
from elman.cli.manner import ANSWERS, Writing, writing
from elman.cli.streaming import chunks, line_buffered
from elman.cli.terminal import on_device, say
from elman.errors import ConfigError

if TYPE_CHECKING:
    from elman.tasks.seq2seq import Alignment, Seq2Seq, Translation

CHUNK = 512  # lines that are answered together


@click.command(short_help="Answer each line by a sequence-to-sequence model.")
@model_folder
@text_file
@writing(ANSWERS)
@click.option("--json", "as_json", is_flag=True, help="A JSON object a line, with all numbers.")
@line_buffered
@click.option("--encoding", default="utf-8", show_default=True)
@on_device
def translate(
    folder: Path,
    file: str,
    writing: Writing,
    as_json: bool,
    line_buffered: bool,
    encoding: str,
    device: str,
) -> None:
    """Print an answer to each line of FILE (default: standard input) by a sequence-to-sequence model.

    A line in, a line out; an empty line is answered by an empty one. Several answers are on one line, apart
    by tabs, each with its score, the mean log-probability of a token.

    \b
    Examples:
      elman translate models/en-de news.en > news.de
      echo "a man sleeps" | elman translate models/en-de --n-best 3
      echo "a man sleeps" | elman translate models/en-de --attention man.png --show-attention
      elman translate models/en-de news.en --with models/second --with models/third --beam 10
      tail -f news.en | elman translate models/en-de --line-buffered
    """
    from elman.text.lines import lines

    model = translator(folder, device)
    read = (line for _, line in lines(file, encoding=encoding))
    texts = chunks(read, file, CHUNK, line_buffered=line_buffered)
    answer(model, texts, writing, as_json=as_json, device=device)


def answer(
    model: Seq2Seq, texts: Iterable[list[str]], writing: Writing, *, as_json: bool, device: str
) -> None:
    """Print the answers to texts, some at a time."""
    from elman.inspect.readers.seq2seq import align

    others = writing.others(device)
    manner = writing.manner(model)
    number = 0
    for some in texts:
        stripped = [text if text.strip() else "" for text in some]  # blanks can be tokens, too
        found = model.translations(stripped, others=others, **manner)
        for text, answers in zip(some, found, strict=True):
            number += 1
            looked = None
            if answers[0].log_probs and (writing.attention or writing.aligned):
                looked = align((model, *others), text, answers[0].tokens)
            if looked and writing.attention:
                _draw(looked, writing.attention, number)
            shown = looked if writing.aligned else None
            click.echo(
                _object(text, answers, shown) if as_json else _lines(answers, writing, shown)
            )


def _lines(answers: Sequence[Translation], writing: Writing, looked: Alignment | None) -> str:
    from elman.inspect.alignment import show_alignment

    line = answers[0].text
    if writing.n_best > 1 and answers[0].log_probs:  # to nothing, nothing was written
        line = "\t".join(f"{one.text} {one.score:.4f}" for one in answers)
    if looked is None:
        return line
    return f"{line}\n{show_alignment(looked.weights.numpy(), looked.source, looked.target)}\n"


def _object(text: str, answers: Sequence[Translation], looked: Alignment | None) -> str:
    found: dict[str, Any] = {"text": text, "answers": [one._asdict() for one in answers]}
    if looked is not None:
        found["attention"] = looked._asdict() | {"weights": looked.weights.tolist()}
    return json.dumps(found, ensure_ascii=False)


def _draw(looked: Alignment, path: Path, number: int) -> None:
    from elman.inspect.alignment import draw_alignment

    if number > 1:
        path = path.with_stem(f"{path.stem}-{number}")
    try:
        draw_alignment(looked.weights.numpy(), looked.source, looked.target, path)
    except OSError as error:
        raise ConfigError(f"--attention: {path} cannot be written ({error.strerror})") from None
    say(f"attention of line {number}: {path}")
