"""What stands in a file, short enough for a message."""

from __future__ import annotations

from collections.abc import Sequence


def quote(text: str, most: int = 60) -> str:
    """The text in quotes, cut after `most` characters."""
    return repr(text) if len(text) <= most else f"{text[:most]!r}…"


def quote_list(items: Sequence[str], most: int = 30) -> str:
    """The items in quotes, and how many more there are."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(map(quote, items[:most])) + more
