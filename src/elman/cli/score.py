"""elman score: log-probability and perplexity of each line."""

from __future__ import annotations

import json
import math
from itertools import chain, tee
from pathlib import Path
from typing import Any

import click

from elman.cli.adaptation_options import warn_if_too_short, with_adaptation_options
from elman.cli.model_args import (
    chunks,
    load_for_verb,
    model_argument,
    precision_option,
    text_file_argument,
    with_input_options,
)
from elman.cli.terminal import say
from elman.cli.token_colors import show_tokens, surprisal_color
from elman.number_format import format_scores

CHUNK = 256  # lines that are scored together


@click.command(short_help="Print log-probability and perplexity of each line.")
@model_argument
@text_file_argument
@click.option(
    "--by-token",
    is_flag=True,
    help="Print the surprisal -log p of each token: as colors on a terminal, else as numbers.",
)
@click.option("--running", is_flag=True, help="The lines are one running text, as in evaluate.")
@with_adaptation_options
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each line, with every token.")
@precision_option
@with_input_options
def score(folder: Path, file: str, device: str, ways: dict[str, Any], **options: Any) -> None:
    """Print log-probability (in nats) and perplexity of each line of FILE (default: standard input).

    A line is scored from its beginning to its end, which is a token too; an empty line is a text that ends at
    once. The perplexity of all lines together goes to stderr.

    Each line is scored by itself, and --cache and --dynamic start anew with it, unless the text is --running.

    \b
    Examples:
      elman score models/lm sentences.txt
      echo "the cat sat" | elman score models/lm --by-token
      elman score models/lm chapter.txt --running --cache --dynamic
    """
    from elman.generation import scoring
    from elman.text.files import read_lines

    model = load_for_verb("score", folder, device)
    texts, again = tee(line for _, line in read_lines(file, encoding=options["encoding"]))
    blank = " " if model.tokenizer.level == "word" else ""
    total, tokens, longest = 0.0, 0, 0
    some = chunks(texts, file, CHUNK, line_buffered=options["line_buffered"])
    scores = (
        scoring.score_running(model, texts, **ways)
        if options["running"]
        else chain.from_iterable(scoring.scores(model, each, **ways) for each in some)
    )
    for text, found in zip(again, scores, strict=True):
        total, tokens = total + found.log_probability, tokens + len(found.tokens)
        longest = max(longest, len(found.tokens))
        if options["as_json"]:
            record = {"text": text, "log_probability": found.log_probability, "perplexity": found.perplexity}
            record |= {"tokens": found.tokens, "log_probs": found.log_probs}
            click.echo(json.dumps(record, ensure_ascii=False))
        elif options["by_token"]:
            pairs = [(token, -nats) for token, nats in zip(found.tokens, found.log_probs, strict=True)]
            show_tokens(pairs, surprisal_color, blank=blank)
        else:
            click.echo(f"{found.log_probability:.4f}\t{found.perplexity:.4f}")
    if tokens and not options["as_json"]:
        say(f"{tokens:,} tokens, {format_scores({'perplexity': math.exp(-total / tokens)}, digits=4)}")
        warn_if_too_short(ways, tokens if options["running"] else longest)
