"""Flags: keys of a recipe that have an option of their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import click


class Flag(NamedTuple):
    """An option of its own for a key of a recipe."""

    key: str
    help: str
    metavar: str = "TEXT"
    type: Any = str
    required: bool = False


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
TRAINING = {
    "--epochs": Flag("training.epochs", "Times that all examples are seen.", "N", int),
    "--batch": Flag("data.batch", "Tokens a batch.", "N", int),
    "--lr": Flag("training.lr", "Highest learning rate.", "RATE", float),
    "--minutes": Flag("training.minutes", "Stop then, with the best so far.", "N", float),
    "--seed": Flag("training.seed", "Of all that is random.", "N", int),
}


def flagged(flags: dict[str, Flag]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command these flags; it is called with the recipe's data that they and --set make."""

    def give(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def gathered(how: Any, sets: tuple[str, ...], **values: Any) -> None:
            from elman.config import override

            data: dict[str, Any] = {}
            for name, flag in flags.items():
                if (value := values[_variable(name)]) is not None:
                    data = _put(data, flag.key.split("."), value)
            for text in sets:
                data = override(data, text)
            command(how, data)

        made: Callable[..., None] = gathered
        for name, flag in reversed(flags.items()):
            made = click.option(
                name,
                _variable(name),
                type=flag.type,
                metavar=flag.metavar,
                help=flag.help,
                required=flag.required,
            )(made)
        return made

    return give


def _variable(name: str) -> str:
    return name.removeprefix("--") + "_"


def _put(data: dict[str, Any], path: list[str], value: Any) -> dict[str, Any]:
    first, *rest = path
    return {**data, first: _put(data.get(first, {}), rest, value) if rest else value}
