"""elman score: how probable each line is."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from elman.cli.language import load
from elman.cli.terminal import on_device, say

if TYPE_CHECKING:
    from elman.tasks.writing.scoring import Score

_SCALE = ("green", "default", "yellow", "red", "bold red")  # a colour for each 2 nats of surprise


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("file", default="-")
@click.option(
    "--by-token",
    is_flag=True,
    help="Each token by its surprise, -log p: in colours on a terminal, else as numbers.",
)
@click.option("--json", "as_json", is_flag=True, help="A JSON object a line, with every token.")
@click.option("--encoding", default="utf-8", show_default=True)
@on_device
def score(
    folder: Path, file: str, by_token: bool, as_json: bool, encoding: str, device: str
) -> None:
    """Print log-probability (in nats) and perplexity of each line of FILE (default: standard input).

    A line is scored from its beginning to its end, which is a token too; an empty line is a text that ends at
    once. The perplexity of all lines together is said on stderr.

    \b
    Examples:
      elman score models/lm sentences.txt
      echo "the cat sat" | elman score models/lm --by-token
    """
    from elman.tasks.writing.scoring import scores
    from elman.tasks.writing.spelled import in_words
    from elman.text.lines import lines

    model = load(folder, device)
    texts = (line for _, line in lines(file, encoding=encoding))
    blank = " " if in_words(model.codec) else ""
    total, tokens = 0.0, 0
    for some in _chunks(texts, 256):
        for text, found in zip(some, scores(model, some), strict=True):
            total, tokens = total + found.log_probability, tokens + len(found.tokens)
            if as_json:
                click.echo(json.dumps(_plain(text, found), ensure_ascii=False))
            elif by_token:
                _show(found, blank)
            else:
                click.echo(f"{found.log_probability:.4f}\t{found.perplexity:.4f}")
    if tokens and not as_json:
        say(f"{tokens} tokens, perplexity {math.exp(-total / tokens):.4f}")


def _plain(text: str, found: Score) -> dict[str, object]:
    return {
        "text": text,
        "log_probability": found.log_probability,
        "perplexity": found.perplexity,
        "tokens": found.tokens,
        "log_probs": found.log_probs,
    }


def _show(found: Score, blank: str) -> None:
    """The tokens of a line by their surprise, with a blank between words."""
    pairs = [(token, -nats) for token, nats in zip(found.tokens, found.log_probs, strict=True)]
    if not sys.stdout.isatty() or "NO_COLOR" in os.environ:
        click.echo("\t".join(f"{_visible(token)} {nats:.2f}" for token, nats in pairs))
        return
    from rich.console import Console
    from rich.text import Text

    line = Text()
    for token, nats in pairs:
        shade = _SCALE[min(int(max(nats, 0.0) / 2), len(_SCALE) - 1)]
        line.append(_visible(token), style=shade)
        line.append(blank)
    Console(highlight=False, soft_wrap=True).print(line)


def _visible(token: str) -> str:
    """A token on one line."""
    return token.replace("\n", "⏎").replace("\t", "⇥")


def _chunks(stream: Iterable[str], size: int) -> Iterator[list[str]]:
    iterator = iter(stream)
    while chunk := list(islice(iterator, size)):
        yield chunk
