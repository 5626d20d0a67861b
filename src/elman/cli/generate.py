"""elman generate: text written by a language model."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elman.cli.folders import language_model, model_folder
from elman.cli.language import adaptable, tell_if_too_short
from elman.cli.terminal import on_device
from elman.errors import ConfigError

if TYPE_CHECKING:
    from elman.decoding import Beam, Event
    from elman.tasks.writing.generation import Generation, How
    from elman.tasks.writing.predictor import Predictor
    from elman.tasks.writing.rules import Rules

_OF_SAMPLING = ("temperature", "top_k", "top_p", "min_p", "seed")
_OF_BEAM = {"beam_factor": "factor", "alpha": "alpha"}


@click.command(short_help="Write texts by a language model.")
@model_folder
@click.option("--prompt", default="", help="What the text begins with; may end inside a word.")
@click.option("--greedy", is_flag=True, help="Always the likeliest token.")
@click.option("--sample", is_flag=True, help="Draw each token (default).")
@click.option("--temperature", type=float, help="Below 1 the likely is likelier. [default: 1]")
@click.option("--top-k", type=int, metavar="K", help="Draw from the K likeliest.")
@click.option("--top-p", type=float, metavar="P", help="Draw from the fewest that sum to P.")
@click.option(
    "--min-p", type=float, metavar="P", help="Draw from those P times as likely as the best."
)
@click.option("--beam", type=int, metavar="K", help="Search with a beam of width K.")
@click.option(
    "--beam-factor", type=float, metavar="F", help="Keep what is within a factor F of the best."
)
@click.option("--keep-width", is_flag=True, help="Do not narrow the beam when a text is completed.")
@click.option("--alpha", type=float, help="Rank by log p / length^alpha. [default: 1]")
@click.option("-n", "n", type=click.IntRange(min=1), default=1, help="So many texts.")
@click.option("--seed", type=int, help="The same seed draws the same text.")
@click.option("--max-tokens", type=int, default=100, show_default=True)
@click.option("--min-tokens", type=int, default=0, help="No end before so many.")
@click.option("--max-seconds", type=float, help="Stop then.")
@click.option("--no-repeat", type=int, metavar="N", help="No N tokens in a row twice.")
@click.option(
    "--ban", "banned", multiple=True, metavar="TEXT", help="Never write this; repeatable."
)
@click.option("--stop", multiple=True, metavar="TEXT", help="End before this text; repeatable.")
@click.option("--trace", "traced", is_flag=True, help="Tell the beam's search on stderr.")
@adaptable
@click.option("--json", "as_json", is_flag=True, help="A JSON object a text.")
@on_device
def generate(folder: Path, device: str, ways: dict[str, Any], **options: Any) -> None:
    """Write texts, each from the prompt to its end or to a limit.

    A single text that is drawn appears on a terminal as it is written.

    --cache remembers the prompt and what was written; --dynamic learns from the prompt before the first
    token, and from nothing that the model writes itself.

    \b
    Examples:
      elman generate models/lm --prompt "Once upo" --temperature 0.8 --top-p 0.9 --seed 1
      elman generate models/lm --prompt "The" --beam 10 --beam-factor 50 -n 3 --trace
      elman generate models/lm --prompt "$(cat chapter.txt)" --cache --dynamic
    """
    from elman.decoding import Beam
    from elman.tasks.writing import generation
    from elman.tasks.writing.rules import Rules

    how = _how(options)
    names = ("max_tokens", "min_tokens", "max_seconds", "no_repeat", "banned", "stop")
    rules = Rules(**{name: options[name] for name in names})
    prompt, n = options["prompt"], options["n"]
    model = _adapted(language_model(folder, device), prompt, rules.max_tokens, ways)
    if isinstance(how, Beam) and options["traced"]:
        texts = _traced(model, prompt, how, rules)
    elif n == 1 and not isinstance(how, Beam) and not options["as_json"] and sys.stdout.isatty():
        click.echo(prompt, nl=False)
        for piece in generation.write(model, prompt, how, rules):
            click.echo(piece, nl=False)
        click.echo()
        return
    else:
        texts = generation.generate(model, prompt, how, n=n, rules=rules)
    for text in texts:
        click.echo(_json(text) if options["as_json"] else text.text)


def _adapted(model: Predictor, prompt: str, room: int, ways: dict[str, Any]) -> Predictor:
    from elman.tasks.writing.following import adapted
    from elman.tasks.writing.prompt import settled

    if "dynamic" in ways and not prompt:
        raise ConfigError("--dynamic learns from the prompt, and there is none; give a --prompt")
    tell_if_too_short(ways, len(settled(model, prompt)[0]))
    return adapted(model, prompt, room, **ways)


def _how(options: dict[str, Any]) -> How:
    """What the options say, which must not contradict each other."""
    from elman.decoding import Beam, Greedy
    from elman.tasks.writing.generation import Sampling

    drawn = {name: options[name] for name in _OF_SAMPLING if options[name] is not None}
    searched = {to: options[name] for name, to in _OF_BEAM.items() if options[name] is not None}
    beam = options["beam"] is not None
    if options["greedy"] + options["sample"] + beam > 1:
        raise ConfigError("--greedy, --sample and --beam are three ways to write; choose one")
    if drawn and (beam or options["greedy"]):
        name = next(iter(drawn)).replace("_", "-")
        raise ConfigError(f"--{name} is for sampling, not for --greedy or --beam")
    if not beam and (searched or options["keep_width"] or options["traced"]):
        raise ConfigError("--beam-factor, --keep-width, --alpha and --trace are for --beam K")
    if beam:
        most = {"width": options["beam"], "n_best": options["n"]}
        return Beam(**most, narrow=not options["keep_width"], **searched)
    return Greedy() if options["greedy"] else Sampling(**drawn)


def _json(text: Generation) -> str:
    answer = {
        "text": text.text,
        "continuation": text.continuation,
        "log_probability": sum(text.log_probs),
        "score": text.score,
        "tokens": len(text.log_probs),
        "ended": text.ended,
    }
    return json.dumps(answer, ensure_ascii=False)


def _traced(model: Predictor, prompt: str, beam: Beam, rules: Rules) -> list[Generation]:
    from elman.tasks.writing.generation import trace

    search = trace(model, prompt, beam, rules)
    while True:
        try:
            event, texts = next(search)
        except StopIteration as over:
            found: list[Generation] = over.value
            return found
        _tell(event, texts)


def _tell(event: Event, texts: list[str]) -> None:
    pruned = f"pruned {event.beyond_factor} by factor, {event.beyond_width} by width"
    line = f"{event.position + 1}: width {event.width}, kept {len(event.kept)}, {pruned}"
    if event.completed:
        line += f", completed {event.completed}"
    if event.closed:
        line += f"; over: {event.closed}"
    click.echo(line, err=True)
    for way, text in zip(event.kept, texts, strict=True):
        click.echo(f"   {way.score:9.4f}  {text!r}", err=True)
