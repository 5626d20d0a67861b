"""elman generate: text from a language model."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elman.cli.adaptation_options import warn_if_too_short, with_adaptation_options
from elman.cli.beam_trace import follow_beam
from elman.cli.model_args import cell_option, load_for_verb, model_argument, precision_option
from elman.cli.terminal import device_option, option
from elman.cli.tree_output import tree_option, write_tree
from elman.errors import ConfigError
from elman.ranges import (
    BeamWidth,
    LengthPenalty,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    Seed,
    Share,
)

if TYPE_CHECKING:
    from elman.generation import DecodingStrategy, Generation, LMPredictor

_OF_SAMPLING = ("temperature", "top_k", "top_p", "min_p", "min_tokens_to_keep", "seed")
_OF_BEAM = {"beam_factor": "factor", "length_penalty": "length_penalty"}


@click.command(short_help="Generate text with a language model.")
@model_argument
@click.option("--prompt", default="", help="Beginning of the text; may end inside a word.")
@click.option("--greedy", is_flag=True, help="Greedy search: always the most likely token.")
@click.option("--sample", is_flag=True, help="Sample each token (default).")
@option("--temperature T", "Softmax temperature; below 1 sharpens. [default: 1]", type=PositiveFloat)
@option("--top-k K", "Sample from the K most likely tokens.", type=PositiveInt)
@option("--top-p P", "Nucleus sampling with probability mass P.", type=Share)
@option("--min-p P", "Sample from tokens at least P times as likely as the best.", type=Share)
@option("--min-tokens-to-keep N", "The filters leave at least N tokens. [default: 1]", type=PositiveInt)
@option("--beam K", "Beam search of width K.", type=BeamWidth)
@option(
    "--beam-factor F",
    "Prune hypotheses F times less likely than the best; F from 1, or 0 for the best alone.",
    type=NonNegativeFloat,
)
@click.option("--keep-width", is_flag=True, help="Keep the beam width when a hypothesis is finished.")
@option("--length-penalty P", "Rank by log p / length^P. [default: 1]", type=LengthPenalty)
@option("-n N", "Number of texts.", "n", type=PositiveInt, default=1)
@option("--seed N", "Random seed.", type=Seed)
@click.option(
    "--passage/--no-passage",
    default=None,
    help="Write on over line ends, up to --max-tokens; or end with the line. [default: --passage for "
    "samples of a model of characters or bytes, unless --min-tokens is given]",
)
@option("--max-tokens N", "Maximum number of tokens. [default: 100; of a passage 1000]", type=PositiveInt)
@option("--min-tokens N", "Minimum number of tokens.", type=NonNegativeInt, default=0)
@option("--max-seconds S", "Time limit.", type=NonNegativeFloat)
@option("--no-repeat N", "Never repeat an n-gram of N tokens.", type=PositiveInt)
@option(
    "--repetition-penalty F",
    "Divide the positive logits of tokens that stand in the text by F, multiply the negative ones.",
    type=PositiveFloat,
    default=1.0,
)
@click.option("--ban", "banned", multiple=True, metavar="TEXT", help="Never generate this text; repeatable.")
@click.option("--stop", multiple=True, metavar="TEXT", help="Stop before this text; repeatable.")
@click.option("--trace", "traced", is_flag=True, help="Print each step of the beam search on stderr.")
@tree_option
@with_adaptation_options
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each text.")
@device_option
@precision_option
@cell_option
def generate(folder: Path, device: str, ways: dict[str, Any], **options: Any) -> None:
    """Generate texts that continue a prompt, each up to the end of its line or to a limit.

    A --passage goes on over line ends: a page of what the model has read. On a terminal, a single sampled text
    appears token by token. Several passages are separated by a line of three dashes.

    --cache stores the prompt and the generated text; --dynamic adapts to the prompt before the first token,
    not to text that the model generates itself.

    \b
    Examples:
      elman generate models/lm --prompt "Once upo" --temperature 0.8 --top-p 0.9 --seed 1
      elman generate models/book --passage --sample --temperature 0.8 --max-tokens 2000
      elman generate models/lm --prompt "The" --beam 10 --beam-factor 50 -n 3 --trace
      elman generate models/lm --prompt "The" --beam 4 --max-tokens 10 --beam-tree tree.png
      elman generate models/lm --prompt "$(cat chapter.txt)" --cache --dynamic
    """
    from elman.decoding import Beam
    from elman.generation import GenerationConfig, Sampling, text_generation

    how = _choose_strategy(options)
    names = ("max_tokens", "min_tokens", "max_seconds", "no_repeat", "repetition_penalty", "banned", "stop")
    rules = GenerationConfig(passage=bool(options["passage"]), **{name: options[name] for name in names})
    prompt, n, model = options["prompt"], options["n"], load_for_verb("generate", folder, device)
    if options["passage"] is None and isinstance(how, Sampling) and not rules.min_tokens:
        rules = replace(rules, passage=model.writes_passages)
    model = _adapt(model, prompt, rules.limit, ways)
    if isinstance(how, Beam) and (options["traced"] or options["beam_tree"]):
        texts, tree = follow_beam(model, prompt, how, rules, told=options["traced"])
        if options["beam_tree"]:
            write_tree(tree, options["beam_tree"], about=folder.resolve().name)
    elif n == 1 and not isinstance(how, Beam) and not options["as_json"] and sys.stdout.isatty():
        _print_pieces(prompt, text_generation.generate_iter(model, prompt, how, config=rules))
        return
    else:
        texts = text_generation.generate(model, prompt, how, n=n, config=rules)
    if options["as_json"]:
        click.echo("\n".join(map(_json, texts)))
    elif rules.passage:
        click.echo("---\n".join(_end_line(text.text) for text in texts), nl=False)
    else:
        click.echo("\n".join(text.text for text in texts))


def _print_pieces(prompt: str, pieces: Iterable[str]) -> None:
    """A text as it comes, and the end of its last line."""
    last = prompt
    click.echo(prompt, nl=False)
    for piece in pieces:
        click.echo(piece, nl=False)
        last = piece or last
    click.echo(nl=not last.endswith("\n"))


def _end_line(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


def _adapt(model: LMPredictor, prompt: str, room: int, ways: dict[str, Any]) -> LMPredictor:
    from elman.generation import adapt
    from elman.generation.cursor import encode_prompt

    if "dynamic" in ways and not prompt:
        raise ConfigError("--dynamic adapts to the prompt: give a --prompt")
    warn_if_too_short(ways, len(encode_prompt(model, prompt)[0]))
    return adapt(model, prompt, room, **ways)


def _choose_strategy(options: dict[str, Any]) -> DecodingStrategy:
    """What the options say, which must not contradict each other."""
    from elman.decoding import Beam, Greedy
    from elman.generation import Sampling

    drawn = {name: options[name] for name in _OF_SAMPLING if options[name] is not None}
    searched = {to: options[name] for name, to in _OF_BEAM.items() if options[name] is not None}
    beam = options["beam"] is not None
    if options["greedy"] + options["sample"] + beam > 1:
        raise ConfigError("--greedy, --sample and --beam exclude each other: choose one")
    if drawn and (beam or options["greedy"]):
        name = next(iter(drawn)).replace("_", "-")
        raise ConfigError(f"--{name} is for sampling, not for --greedy or --beam")
    shown = options["traced"] or options["beam_tree"]
    if not beam and (searched or options["keep_width"] or shown):
        named = "--beam-factor, --keep-width, --length-penalty, --trace and --beam-tree"
        raise ConfigError(f"{named} are for --beam K")
    if beam:
        most = {"width": options["beam"], "n_best": options["n"]}
        return Beam(**most, narrow=not options["keep_width"], **searched)
    return Greedy() if options["greedy"] else Sampling(**drawn)


def _json(text: Generation) -> str:
    written = {"text": text.text, "continuation": text.continuation}
    cost = {"log_probability": sum(text.log_probs), "score": text.score, "tokens": len(text.log_probs)}
    return json.dumps({**written, **cost, "ended": text.ended}, ensure_ascii=False)
