"""Numbers as people read them: 20,000 and not 2e+04, 3 min 20 s, 12.3 MB; never a probability above 1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import floor, isfinite, isnan, log10

COUNTS = ("examples", "pairs", "sentences", "tokens", "words", "spans", "updates", "epochs", "parameters")
"""Scores and facts of these names are numbers of things, whatever their type."""


_UNITS = ("kB", "MB", "GB", "TB")


def format_number(value: float, digits: int = 4) -> str:
    """A number with so many significant digits, never with an exponent: ``0.00001234``, ``123,456``."""
    if not isfinite(value):
        return "not a number" if isnan(value) else "infinite"
    if not value or isinstance(value, int):
        return f"{value:,.0f}"
    places = max(0, digits - 1 - floor(log10(abs(value))))
    text = f"{value:,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_score(name: str, value: float, digits: int = 2) -> str:
    """A score, or how many things of this name there are; nats and bits a token are small, and shown finer."""
    if not isfinite(value):
        return format_number(value)
    if isinstance(value, int) or name in COUNTS:
        return f"{value:,.0f}"
    return f"{value:,.{max(digits, 4) if '_per_' in name or name.endswith('nll') else digits}f}"


def format_scores(scores: Mapping[str, float], between: str = ", ", digits: int = 2) -> str:
    """Names and values: ``accuracy 91.20, examples 20,000``."""
    return between.join(f"{name} {format_score(name, value, digits)}" for name, value in scores.items())


def format_probability(chance: float, digits: int = 4) -> str:
    """A probability; rounding of the machine never makes it more than 1."""
    return f"{max(0.0, min(chance, 1.0)):.{digits}f}"


def format_percent(share: float, digits: int = 0) -> str:
    """A share of one in percent."""
    return f"{100 * share:.{digits}f} %"


def format_duration(seconds: float) -> str:
    """A time: ``0.8 s``, ``42 s``, ``3 min 20 s``, ``1 h 5 min``."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    if hours:
        return f"{hours:,} h {minutes} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"


def format_clock(seconds: float) -> str:
    """A time as a clock shows it, which keeps its width while it runs: ``0:03:20``."""
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def format_size(bytes: float) -> str:
    """A size in bytes: ``512 bytes``, ``12.3 MB``."""
    if bytes < 1000:
        return f"{bytes:.0f} bytes"
    power = min(int(log10(bytes) / 3 + 1e-4), len(_UNITS))  # 999,950 bytes are 1.0 MB, not 1,000.0 kB
    return f"{bytes / 1000**power:,.1f} {_UNITS[power - 1]}"


def format_names(names: Iterable[str], most: int = 5) -> str:
    """Some names, and how many more there are: ``a, b, c and 12 others``."""
    every = [*names]
    if len(every) <= most + 1:
        return ", ".join(every)
    return f"{', '.join(every[:most])} and {len(every) - most:,} others"
