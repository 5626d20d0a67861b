"""elman complete: how the last word goes on."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elman.cli.folders import language_model, model_folder
from elman.cli.language import adaptable, tell_if_too_short
from elman.cli.terminal import on_device
from elman.errors import ConfigError

if TYPE_CHECKING:
    from elman.tasks.writing.completion import Completion
    from elman.tasks.writing.predictor import Predictor


@click.command(short_help="Complete a word or say the next one; on a terminal as you type.")
@model_folder
@click.argument("text", required=False)
@click.option(
    "-k", type=click.IntRange(min=1, max=64), default=5, show_default=True, help="So many."
)
@click.option(
    "--running", is_flag=True, help="Without TEXT: each line comes after the lines before it."
)
@adaptable
@click.option("--json", "as_json", is_flag=True, help="A JSON object for each text.")
@on_device
def complete(
    folder: Path, text: str | None, k: int, device: str, ways: dict[str, Any], **options: Any
) -> None:
    """Print the likeliest completions of the last word of TEXT with their probabilities, best first.

    After a blank these are the next words. Without TEXT, on a terminal, words are completed while you type:
    Tab takes the best completion, Enter begins a new line, Ctrl-D ends. Elsewhere the lines of standard
    input are completed, a line for each.

    With --running, --cache remembers and --dynamic learns from all lines before; else they begin anew with
    each line.

    \b
    Examples:
      elman complete models/lm "Once upo"
      elman complete models/lm --running --cache
    """
    if options["running"] and text is not None:
        raise ConfigError("--running is for lines; a TEXT stands for itself, but may have several")
    as_json: bool = options["as_json"]
    typing = text is None and not as_json and sys.stdin.isatty() and sys.stdout.isatty()
    if typing and "dynamic" in ways and not options["running"]:
        raise ConfigError("--dynamic learns from the lines before this one; say --running, too")
    model = language_model(folder, device)
    completer = (RunningCompleter if options["running"] else Completer)(model, k, ways)
    if typing:
        from elman.cli.typing_line import type_along

        type_along(completer.find, completer.enter)
    elif text is not None and not as_json:
        for one in completer.find(text):
            click.echo(f"{one.text}\t{one.probability:.4f}")
        completer.enter(text)
    else:
        for line in [text] if text is not None else (line.rstrip("\n") for line in sys.stdin):
            click.echo(_line(line, completer.find(line), as_json))
            completer.enter(line)
    if not typing and not as_json:
        tell_if_too_short(ways, completer.longest)


class Completer:
    """Completes each text by itself."""

    longest = 0  # tokens of a text

    def __init__(self, model: Predictor, k: int, ways: dict[str, Any]) -> None:
        self.model, self.k, self.ways = model, k, ways

    def find(self, text: str) -> list[Completion]:
        from elman.tasks.writing.completion import complete
        from elman.tasks.writing.following import adapted
        from elman.tasks.writing.word_ends import LONGEST

        return complete(adapted(self.model, text, LONGEST, **self.ways), text, self.k)

    def enter(self, text: str) -> None:
        """The text is over."""
        from elman.tasks.writing.prompt import settled

        self.longest = max(self.longest, len(settled(self.model, text)[0]))


class RunningCompleter:
    """Completes each line after the lines that were entered before."""

    longest = 0  # tokens of all lines

    def __init__(self, model: Predictor, k: int, ways: dict[str, Any]) -> None:
        from elman.tasks.writing.following import Following

        self.following, self.k = Following(model, **ways), k

    def find(self, line: str) -> list[Completion]:
        from elman.tasks.writing.completion import complete

        return complete(self.following, line, self.k)

    def enter(self, line: str) -> None:
        """The line is over; the next comes after it."""
        self.following.read(line)
        self.longest += len(self.following.codec.encode(line)) + 1


def _line(text: str, found: Sequence[Completion], as_json: bool) -> str:
    if as_json:
        answer = {"text": text, "completions": [one._asdict() for one in found]}
        return json.dumps(answer, ensure_ascii=False)
    return "\t".join(f"{one.text} {one.probability:.4f}" for one in found)
