"""elman predict: a line in, a line out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import click

from elman.cli.terminal import on_device


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("file", default="-")
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Print the K likeliest labels with their probabilities.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="A JSON object a line, with the probability of every label.",
)
@click.option("--encoding", default="utf-8", show_default=True)
@on_device
def predict(folder: Path, file: str, top: int, as_json: bool, encoding: str, device: str) -> None:
    """Print a label for each line of FILE (default: standard input).

    \b
    Examples:
      elman predict models/topics mails.txt > labels.txt
      echo "How far is the moon?" | elman predict models/trec --top 3
    """
    from elman import artifact
    from elman.text.lines import lines

    model = artifact.load(folder, device=device)
    stream = (line for _, line in lines(file, encoding=encoding))
    for some in _chunks(stream, 512):
        for line, prediction in zip(some, model.classify(some), strict=True):
            best = list(islice(prediction.probabilities.items(), top))
            if as_json:
                click.echo(json.dumps({"text": line, **prediction._asdict()}, ensure_ascii=False))
            elif top == 1:
                click.echo(prediction.label)
            else:
                click.echo("\t".join(f"{name} {chance:.4f}" for name, chance in best))


def _chunks(stream: Iterator[str], size: int) -> Iterator[list[str]]:
    while chunk := list(islice(stream, size)):
        yield chunk
