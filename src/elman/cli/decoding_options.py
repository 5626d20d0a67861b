"""The decoding options of evaluate, predict and translate: beam search, ensembles, n-best lists, attention."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elman.cli.model_args import load_for_verb
from elman.cli.terminal import PICTURE, add_options, option
from elman.cli.tree_output import tree_option
from elman.errors import ConfigError
from elman.ranges import BeamWidth, LengthPenalty, NonNegativeFloat, PositiveFloat, PositiveInt

if TYPE_CHECKING:
    from elman.tasks.seq2seq.task import Seq2Seq

SEARCH_OPTIONS = {
    "beam": option(
        "--beam K", "Beam width; 1 is greedy search. [default: the model's, mostly 5]", type=BeamWidth
    ),
    "factor": option(
        "--beam-factor F",
        "Prune hypotheses F times less likely than the best; F from 1, or 0 for the best alone.",
        "factor",
        type=NonNegativeFloat,
    ),
    "length_penalty": option(
        "--length-penalty",
        "Rank by log p / length^penalty. [default: the model's, mostly 1]",
        type=LengthPenalty,
    ),
    "max_tokens": option("--max-tokens N", "Write N tokens at most.", type=PositiveInt),
    "no_repeat": option("--no-repeat N", "Never repeat an n-gram of N tokens.", type=PositiveInt),
    "repetition_penalty": option(
        "--repetition-penalty F",
        "Above 1, tokens of the answer are less likely to come again.",
        type=PositiveFloat,
    ),
    "stop": option("--stop TEXT", "Stop before this text; repeatable.", multiple=True),
    "precision": option(
        "--precision",
        "bfloat16 rounds weights and states to 8 bits: faster on CPUs that multiply it, and now and "
        "then another answer. [default: float32]",
        type=click.Choice(["float32", "bfloat16"]),
    ),
    "others": option(
        "--with DIR",
        "Ensemble with this model, which has the same vocabulary; repeatable.",
        "others",
        type=click.Path(path_type=Path),
        multiple=True,
    ),
}
"""How to search for an answer."""

ANSWER_OPTIONS = SEARCH_OPTIONS | {
    "n_best": option(
        "--n-best --top N", "Print the N best answers, each with its probability or score.", type=BeamWidth
    ),
    "attention": option(
        "--attention FILE.png",
        "Plot the attention weights: of line 1 to FILE.png, of line 2 to FILE-2.png, …; or .svg, .pdf.",
        type=PICTURE,
    ),
    "show_attention": option(
        "--show-attention",
        "Print after each answer the source token with most attention for each of its tokens.",
        is_flag=True,
    ),
    "beam_tree": tree_option,
}
"""The same, and what to show of it."""

_SAID = {"factor": "beam-factor", "others": "with", "n_best": "n-best"}


@dataclass(frozen=True)
class DecodingOptions:
    """The decoding options that were given."""

    given: dict[str, Any]

    @property
    def overrides(self) -> dict[str, Any]:
        """Changes to a model's decoding config."""
        apart = ("others", "n_best", "attention", "show_attention", "beam_tree")
        return {name: value for name, value in self.given.items() if name not in apart}

    def others(self, device: str) -> list[Seq2Seq]:
        """The other models of the ensemble."""
        return [load_for_verb("translate", folder, device) for folder in self.given.get("others", ())]

    def reject_unknown(self, task: str, known: frozenset[str]) -> None:
        """Refuse options that a model of this task does not understand."""
        for name in self.given:
            if name not in known:
                said = _SAID.get(name, name).replace("_", "-")
                raise ConfigError(f"--{said} is for seq2seq models, not for a {task}")


def with_decoding_options(options: Mapping[str, Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command these options; those that were given arrive as ``decoding``."""

    def give(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def wrapper(**values: Any) -> None:
            used = {name: values.pop(name) for name in options}
            given = {name: v for name, v in used.items() if not (v is None or v is False or v == ())}
            command(decoding=DecodingOptions(given), **values)

        return add_options(wrapper, options.values())

    return give
