"""How a sequence-to-sequence model writes: what evaluate, predict and translate can be told of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elman.cli.folders import translator
from elman.errors import ConfigError

if TYPE_CHECKING:
    from elman.tasks.seq2seq import Seq2Seq

SEARCH = {
    "beam": click.option(
        "--beam",
        type=click.IntRange(min=1),
        metavar="K",
        help="Hypotheses side by side; 1 is greedy. [default: the model's, mostly 5]",
    ),
    "factor": click.option(
        "--beam-factor",
        "factor",
        type=float,
        metavar="F",
        help="Keep what is within a factor F of the best.",
    ),
    "alpha": click.option(
        "--alpha", type=float, help="Rank by log p / length^alpha. [default: the model's, mostly 1]"
    ),
    "longest": click.option("--longest", type=int, metavar="N", help="Write N tokens at most."),
    "no_repeat": click.option(
        "--no-repeat", type=int, metavar="N", help="No N tokens in a row twice."
    ),
    "stop": click.option(
        "--stop", multiple=True, metavar="TEXT", help="End before this text; repeatable."
    ),
    "precision": click.option(
        "--precision",
        type=click.Choice(["float32", "bfloat16"]),
        help="bfloat16 rounds weights and states to 8 bits: faster on CPUs that multiply it, and now and "
        "then another answer. [default: float32]",
    ),
    "others": click.option(
        "--with",
        "others",
        type=click.Path(path_type=Path),
        multiple=True,
        metavar="DIR",
        help="Write together with this model of the same tokens; repeatable.",
    ),
}
"""How to search for an answer."""

ANSWERS = SEARCH | {
    "n_best": click.option(
        "--n-best",
        "--top",
        type=click.IntRange(min=1),
        metavar="N",
        help="The N best answers, each with its probability or score.",
    ),
    "attention": click.option(
        "--attention",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE.png",
        help="Draw where the model looked: for line 1 FILE.png, for line 2 FILE-2.png, …",
    ),
    "show_attention": click.option(
        "--show-attention",
        is_flag=True,
        help="Print after each answer where the model looked for each of its tokens.",
    ),
}
"""The same, and what to show of it."""

_SAID = {"factor": "beam-factor", "others": "with", "n_best": "n-best"}


@dataclass(frozen=True)
class Writing:
    """What was said about how to write."""

    given: dict[str, Any]

    @property
    def n_best(self) -> int:
        return int(self.given.get("n_best", 1))

    @property
    def attention(self) -> Path | None:
        path: Path | None = self.given.get("attention")
        return path

    @property
    def aligned(self) -> bool:
        return "show_attention" in self.given

    def manner(self, model: Seq2Seq) -> dict[str, Any]:
        """The changes to how a model writes; for n answers the beam is at least n wide, unless it is said."""
        apart = ("others", "attention", "show_attention")
        changes = {name: value for name, value in self.given.items() if name not in apart}
        return {"beam": max(model.model.beam, self.n_best), **changes}

    def others(self, device: str) -> list[Seq2Seq]:
        """The models that write together with the first one."""
        return [translator(folder, device) for folder in self.given.get("others", ())]

    def refuse(self, task: str, *, but: str = "") -> None:
        """Of this nothing is for a model of another task."""
        for name in self.given:
            if name != but:
                said = _SAID.get(name, name).replace("_", "-")
                raise ConfigError(f"--{said} is for seq2seq models, not for a {task}")


def writing(options: Mapping[str, Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command these options; it is called with those that were used, as ``writing``."""

    def give(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def gathered(**values: Any) -> None:
            used = {name: values.pop(name) for name in options}
            given = {
                name: v for name, v in used.items() if not (v is None or v is False or v == ())
            }
            command(writing=Writing(given), **values)

        made: Callable[..., None] = gathered
        for option in reversed(list(options.values())):
            made = option(made)
        return made

    return give
