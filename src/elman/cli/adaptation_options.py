"""The options of language models that adapt to a text: a cache and dynamic evaluation."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce, wraps
from typing import Any

from elman.cli.terminal import option, say
from elman.errors import ConfigError


def with_adaptation_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command --cache, --dynamic and --set; what they say arrives as ``ways``."""

    keys = "Their options, such as cache.window=3800 or dynamic.rate=0.001."

    @option("--cache", "Language models: a neural cache of recent words.", is_flag=True)
    @option("--dynamic", "Language models: dynamic evaluation.", is_flag=True)
    @option("--set KEY=VALUE", keys, "sets", multiple=True)
    @wraps(command)
    def wrapper(sets: tuple[str, ...], cache: bool, dynamic: bool, **options: Any) -> None:
        command(ways=parse_adaptation(sets, cache=cache, dynamic=dynamic), **options)

    return wrapper


def parse_adaptation(sets: tuple[str, ...], **asked: bool) -> dict[str, Any]:
    """The configs of --cache and --dynamic that were asked for, by name."""
    from elman.config import apply_override, build_config
    from elman.generation.adapted_lm import AdaptationConfig

    data: dict[str, Any] = reduce(apply_override, sets, {})
    ways = build_config(AdaptationConfig, data)
    for name in data:
        if not asked[name]:
            raise ConfigError(f"--set {name} needs --{name}, too")
    return {name: getattr(ways, name) for name, wanted in asked.items() if wanted}


def warn_if_too_short(ways: dict[str, Any], tokens: int) -> None:
    """Say that dynamic evaluation had no effect, where all that it reads at once are so many tokens."""
    if dynamic := ways.get("dynamic"):
        first = dynamic.warm * dynamic.steps
        if tokens <= first:
            say(
                f"--dynamic changed nothing: the first {first} tokens (dynamic.warm × dynamic.steps) only "
                f"tell how large gradients are, and there are {tokens}; set dynamic.warm lower"
            )
