"""Flags: keys of a recipe that have an option of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem


class Flag(NamedTuple):
    """An option of its own for a key of a recipe. A ``bool`` is true where it is given."""

    key: str
    help: str
    metavar: str = "TEXT"
    type: Any = str
    required: bool = False
    several: bool = False  # values: all words up to the next option (the command must be `Spread`)

    def option(self, name: str) -> Callable[[Any], Any]:
        """For click, under this name; where the value is a file, shells complete it."""
        if self.type is bool:
            return click.option(name, _variable(name), is_flag=True, default=None, help=self.help)
        return click.option(
            name,
            _variable(name),
            cls=Several if self.several else None,
            multiple=self.several,
            type=click.Path() if self.metavar.startswith("FILE") else self.type,
            metavar=self.metavar,
            help=self.help,
            required=self.required,
        )


class Several(click.Option):
    """An option that takes all words up to the next option."""


class Spread(click.Command):
    """A command without arguments; what follows one of its `Several` options belongs to that option."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        """``--train a b`` is read as ``--train a --train b``."""
        several = {o for p in self.params if isinstance(p, Several) for o in p.opts}
        return super().parse_args(context, list(_spread(arguments, several)))

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        """A further word, which is no option, is a further file."""
        further = [] if incomplete.startswith("-") else [CompletionItem(incomplete, type="file")]
        return further + super().shell_complete(context, incomplete)


def _spread(arguments: list[str], several: set[str]) -> Iterator[str]:
    option, first = "", False
    for argument in arguments:
        if argument.startswith("-") and argument != "-":
            name, joined, _ = argument.partition("=")
            option, first = name if name in several else "", not joined
        else:
            if option and not first:
                yield option
            first = False
        yield argument


FILES = {
    "--valid": Flag(
        "data.valid", "Chooses the best weights; else a tenth of --train is held out.", "FILE"
    ),
    "--test": Flag("data.test", "Scored once, at the end.", "FILE"),
    "--encoding": Flag("data.encoding", "Of the files, for example latin-1."),
}
WORDS = {
    "--cell": Flag("model.cell", "lstm, gru, elman, relu, peephole-lstm, …"),
    "--hidden": Flag("model.hidden", "Units of each direction.", "N", int),
    "--layers": Flag("model.layers", "Layers on layers.", "N", int),
    "--dropout": Flag("model.dropout", "Share of features left out in training.", "P", float),
    "--vectors": Flag("model.vectors", "Pretrained word vectors.", "FILE"),
}
PAIRS = {
    "--train": Flag(
        "data.train",
        "Sources and targets, line by line, or one table: TSV, CSV or JSONL.",
        "FILE [FILE]",
        required=True,
        several=True,
    ),
    "--valid": Flag(
        "data.valid",
        "Chooses the best weights; else a tenth of --train is held out.",
        "FILE [FILE]",
        several=True,
    ),
    "--test": Flag("data.test", "Scored once, at the end.", "FILE [FILE]", several=True),
    "--encoding": FILES["--encoding"],
    "--source": Flag("data.source", "Of a table: name or number of the source's column.", "COLUMN"),
    "--target": Flag("data.target", "Of a table: name or number of the target's.", "COLUMN"),
    "--source-tokens": Flag(
        "tokens.source.kind", "words, whitespace, chars, bytes, bpe or unigram; default: bpe."
    ),
    "--target-tokens": Flag("tokens.target.kind", "The same for targets."),
    "--joint": Flag(
        "tokens.joint", "One vocabulary for both sides, which are cut alike.", type=bool
    ),
}
TRAINING = {
    "--epochs": Flag("training.epochs", "Times that all examples are seen.", "N", int),
    "--batch": Flag("data.batch", "Tokens a batch.", "N", int),
    "--lr": Flag("training.lr", "Highest learning rate.", "RATE", float),
    "--minutes": Flag("training.minutes", "Stop then, with the best so far.", "N", float),
    "--seed": Flag("training.seed", "Of all that is random.", "N", int),
}


def flagged(flags: dict[str, Flag]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command these flags, before those of the run; it is called with the data of a recipe."""

    def give(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def gathered(sets: tuple[str, ...], **values: Any) -> None:
            from elman.config import override

            data: dict[str, Any] = {}
            for name, flag in flags.items():
                value = values.pop(_variable(name))
                if flag.several and len(value) < 2:
                    value = next(iter(value), None)
                if value is not None:
                    data = _put(data, flag.key.split("."), value)
            for text in sets:
                data = override(data, text)
            command(data=data, **values)

        made: Callable[..., None] = gathered
        for name, flag in reversed(flags.items()):
            made = flag.option(name)(made)
        return made

    return give


def _variable(name: str) -> str:
    return name.removeprefix("--").replace("-", "_") + "_"


def _put(data: dict[str, Any], path: list[str], value: Any) -> dict[str, Any]:
    first, *rest = path
    return {**data, first: _put(data.get(first, {}), rest, value) if rest else value}
