"""elman score: how probable each line is."""

from __future__ import annotations

import json
import math
from itertools import chain, tee
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elman.cli.folders import language_model, model_folder, text_file
from elman.cli.language import adaptable, tell_if_too_short
from elman.cli.shades import by_surprise, show_tokens
from elman.cli.streaming import chunks, line_buffered
from elman.cli.terminal import on_device, say

if TYPE_CHECKING:
    from elman.tasks.writing.scoring import Score

CHUNK = 256  # lines that are scored together


@click.command(short_help="Print how likely each line of a text is.")
@model_folder
@text_file
@click.option(
    "--by-token",
    is_flag=True,
    help="Each token by its surprise, -log p: in colours on a terminal, else as numbers.",
)
@click.option(
    "--running", is_flag=True, help="The lines are one text, as in evaluate, each after the others."
)
@adaptable
@click.option("--json", "as_json", is_flag=True, help="A JSON object a line, with every token.")
@line_buffered
@click.option("--encoding", default="utf-8", show_default=True)
@on_device
def score(folder: Path, file: str, device: str, ways: dict[str, Any], **options: Any) -> None:
    """Print log-probability (in nats) and perplexity of each line of FILE (default: standard input).

    A line is scored from its beginning to its end, which is a token too; an empty line is a text that ends at
    once. The perplexity of all lines together is said on stderr.

    Each line stands for itself, and --cache and --dynamic begin anew with it, unless the text is --running.

    \b
    Examples:
      elman score models/lm sentences.txt
      echo "the cat sat" | elman score models/lm --by-token
      elman score models/lm chapter.txt --running --cache --dynamic
    """
    from elman.tasks.writing import scoring
    from elman.tasks.writing.spelled import in_words
    from elman.text.lines import lines

    model = language_model(folder, device)
    texts, again = tee(line for _, line in lines(file, encoding=options["encoding"]))
    blank = " " if in_words(model.codec) else ""
    total, tokens, longest = 0.0, 0, 0
    some = chunks(texts, file, CHUNK, line_buffered=options["line_buffered"])
    scores = (
        scoring.running(model, texts, **ways)
        if options["running"]
        else chain.from_iterable(scoring.scores(model, each, **ways) for each in some)
    )
    for text, found in zip(again, scores, strict=True):
        total, tokens = total + found.log_probability, tokens + len(found.tokens)
        longest = max(longest, len(found.tokens))
        if options["as_json"]:
            click.echo(json.dumps(_plain(text, found), ensure_ascii=False))
        elif options["by_token"]:
            _show(found, blank)
        else:
            click.echo(f"{found.log_probability:.4f}\t{found.perplexity:.4f}")
    if tokens and not options["as_json"]:
        say(f"{tokens} tokens, perplexity {math.exp(-total / tokens):.4f}")
        tell_if_too_short(ways, tokens if options["running"] else longest)


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
    show_tokens(pairs, by_surprise, blank=blank)
