"""elman complete: how the last word goes on."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from elman.cli.adaptation_options import warn_if_too_short, with_adaptation_options
from elman.cli.model_args import cell_option, load_for_verb, model_argument, precision_option
from elman.cli.terminal import device_option, option
from elman.errors import ConfigError
from elman.number_format import format_probability
from elman.ranges import Range

if TYPE_CHECKING:
    from elman.generation import Completion, LMPredictor


@click.command(short_help="Complete a word or say the next one; on a terminal as you type.")
@model_argument
@click.argument("text", required=False)
@option("-k", "Number of completions.", type=Annotated[int, Range(1, 64)], default=5, show_default=True)
@click.option("--running", is_flag=True, help="Without TEXT: the lines are one running text.")
@with_adaptation_options
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each text.")
@device_option
@precision_option
@cell_option
def complete(folder: Path, text: str | None, k: int, device: str, ways: dict[str, Any], **options: Any) -> None:
    """Print the likeliest completions of the last word of TEXT with their probabilities, best first.

    After a blank these are the next words. Without TEXT, on a terminal, words are completed while you type:
    Tab takes the best completion, Enter begins a new line, Ctrl-D ends. Elsewhere the lines of standard
    input are completed, a line for each.

    With --running, --cache and --dynamic adapt to all lines before; otherwise they start anew with each line.

    \b
    Examples:
      elman complete models/lm "Once upo"
      elman complete models/lm --running --cache
    """
    if options["running"] and text is not None:
        raise ConfigError("--running is for lines of standard input; leave out TEXT")
    as_json: bool = options["as_json"]
    typing = text is None and not as_json and sys.stdin.isatty() and sys.stdout.isatty()
    if typing and "dynamic" in ways and not options["running"]:
        raise ConfigError("--dynamic adapts to the lines before this one: add --running")
    model = load_for_verb("complete", folder, device)
    completer = (RunningCompleter if options["running"] else Completer)(model, k, ways)
    if typing:
        from elman.cli.live_completion import complete_live

        complete_live(completer.find, completer.enter)
    elif text is not None and not as_json:
        for one in completer.find(text):
            click.echo(f"{one.text}\t{format_probability(one.probability)}")
        completer.enter(text)
    else:
        for line in [text] if text is not None else (line.rstrip("\n") for line in sys.stdin):
            click.echo(_line(line, completer.find(line), as_json))
            completer.enter(line)
    if not typing and not as_json:
        warn_if_too_short(ways, completer.longest)


class Completer:
    """Completes each text by itself."""

    longest = 0  # tokens of a text

    def __init__(self, model: LMPredictor, k: int, ways: dict[str, Any]) -> None:
        self.model, self.k, self.ways = model, k, ways

    def find(self, text: str) -> list[Completion]:
        from elman.generation import adapt, complete
        from elman.generation.word_search import MAX_WORD_TOKENS

        return complete(adapt(self.model, text, MAX_WORD_TOKENS, **self.ways), text, self.k)

    def enter(self, text: str) -> None:
        """The text is over."""
        from elman.generation.cursor import encode_prompt

        self.longest = max(self.longest, len(encode_prompt(self.model, text)[0]))


class RunningCompleter:
    """Completes each line after the lines that were entered before."""

    longest = 0  # tokens of all lines

    def __init__(self, model: LMPredictor, k: int, ways: dict[str, Any]) -> None:
        from elman.generation import AdaptedLM

        self.following, self.k = AdaptedLM(model, **ways), k

    def find(self, line: str) -> list[Completion]:
        from elman.generation import complete

        return complete(self.following, line, self.k)

    def enter(self, line: str) -> None:
        """The line is over; the next comes after it."""
        self.following.read(line)
        self.longest += len(self.following.tokenizer.encode(line)) + 1


def _line(text: str, found: Sequence[Completion], as_json: bool) -> str:
    if as_json:
        completions = [one._asdict() for one in found]
        return json.dumps({"text": text, "completions": completions}, ensure_ascii=False)
    return "\t".join(f"{one.text} {format_probability(one.probability)}" for one in found)
