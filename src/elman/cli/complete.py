"""elman complete: how the last word goes on."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from elman.cli.language import load
from elman.cli.terminal import on_device

if TYPE_CHECKING:
    from elman.tasks.writing.completion import Completion


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("text", required=False)
@click.option(
    "-k", type=click.IntRange(min=1, max=64), default=5, show_default=True, help="So many."
)
@click.option("--json", "as_json", is_flag=True, help="A JSON object for each text.")
@on_device
def complete(folder: Path, text: str | None, k: int, as_json: bool, device: str) -> None:
    """Print the likeliest completions of the last word of TEXT with their probabilities, best first.

    After a blank these are the next words. Without TEXT, on a terminal, words are completed while you type:
    Tab takes the best completion, Enter begins a new line, Ctrl-D ends. Elsewhere the lines of standard
    input are completed, a line for each.

    \b
    Examples:
      elman complete models/lm "Once upo"
      elman complete models/lm
    """
    from elman.tasks.writing.completion import complete as completions

    model = load(folder, device)

    def find(text: str) -> list[Completion]:
        return completions(model, text, k)

    if text is None and not as_json and sys.stdin.isatty() and sys.stdout.isatty():
        from elman.cli.typing_line import type_along

        type_along(find)
        return
    if text is not None and not as_json:
        for one in find(text):
            click.echo(f"{one.text}\t{one.probability:.4f}")
        return
    lines = [text] if text is not None else (line.rstrip("\n") for line in sys.stdin)
    for line in lines:
        found = find(line)
        if as_json:
            answer = {"text": line, "completions": [one._asdict() for one in found]}
            click.echo(json.dumps(answer, ensure_ascii=False))
        else:
            click.echo("\t".join(f"{one.text} {one.probability:.4f}" for one in found))
