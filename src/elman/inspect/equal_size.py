"""The width at which networks of different cells have as many parameters."""

from __future__ import annotations

from collections.abc import Callable

from elman.errors import ConfigError


def fit_width(count: Callable[[int], int], parameters: int) -> int:
    """The width whose ``count`` of parameters, which grows with it, is nearest to ``parameters``."""
    if (least := count(1)) > parameters:
        raise ConfigError(f"parameters is {parameters:,}; a single unit makes {least:,} already: ask for more")
    low, high = 1, 2
    while count(high) <= parameters:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if count(middle) <= parameters else (low, middle)
    return min(low, high, key=lambda width: abs(count(width) - parameters))
