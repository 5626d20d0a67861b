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
        from elman.config import apply_override, build_config
        from elman.generation.adapted_lm import AdaptationConfig

        asked = {"cache": cache, "dynamic": dynamic}
        data: dict[str, Any] = reduce(apply_override, sets, {})
        ways = build_config(AdaptationConfig, data)
        for name in data:
            if not asked[name]:
                raise ConfigError(f"--set {name} needs --{name}, too")
        command(ways={name: getattr(ways, name) for name in asked if asked[name]}, **options)

    return wrapper


def warn_if_too_short(ways: dict[str, Any], tokens: int) -> None:
    """Say that dynamic evaluation had no effect, where all that it reads at once are so many tokens."""
    dynamic = ways.get("dynamic")
    if dynamic and tokens <= (first := dynamic.warm * dynamic.steps):
        say(
            f"--dynamic changed nothing: the first {first} tokens (dynamic.warm × dynamic.steps) only "
            f"tell how large gradients are, and there are {tokens}; set dynamic.warm lower"
        )
