"""What the verbs of language models share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from elman.cli.terminal import say
from elman.errors import ConfigError


def adaptable(command: Callable[..., None]) -> Callable[..., None]:
    """Give a verb --cache, --dynamic and --set; it is called with the ``ways`` to adapt that they ask for."""

    @click.option("--cache", is_flag=True, help="A language model: words said lately are likelier.")
    @click.option(
        "--dynamic", is_flag=True, help="A language model: the weights follow what is read."
    )
    @click.option(
        "--set",
        "sets",
        multiple=True,
        metavar="KEY=VALUE",
        help="Of these two, such as cache.window=3800 or dynamic.rate=0.001.",
    )
    @wraps(command)
    def gathered(sets: tuple[str, ...], cache: bool, dynamic: bool, **options: Any) -> None:
        command(ways=ways_to_adapt(sets, cache=cache, dynamic=dynamic), **options)

    return gathered


def ways_to_adapt(sets: tuple[str, ...], **asked: bool) -> dict[str, Any]:
    """The ways to adapt to a text that were asked for, by name, as --set has them."""
    from elman.config import build, override
    from elman.tasks.language_model import Adapted

    data: dict[str, Any] = {}
    for text in sets:
        data = override(data, text)
    ways = build(Adapted, data)
    for name in data:
        if not asked[name]:
            raise ConfigError(f"--set {name} says how, but --{name} was not asked for")
    return {name: getattr(ways, name) for name, wanted in asked.items() if wanted}


def tell_if_too_short(ways: dict[str, Any], tokens: int) -> None:
    """Say that dynamic evaluation had no effect, where all that it reads at once are so many tokens."""
    if dynamic := ways.get("dynamic"):
        first = dynamic.warm * dynamic.steps
        if tokens <= first:
            say(
                f"--dynamic changed nothing: the first {first} tokens (dynamic.warm × dynamic.steps) only "
                f"tell how large gradients are, and there are {tokens}; set dynamic.warm lower"
            )
