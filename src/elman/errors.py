"""What a user can cause. Each message is one sentence: what is wrong, where, what would be right."""

from __future__ import annotations

from collections.abc import Sequence


class ElmanError(Exception):
    """The parent of all errors that are the user's to mend; the command line prints it in one line."""

    def __str__(self) -> str:
        return super().__str__().replace("\n", "\\n")  # a name or a label may hold an end of line


class ArgumentError(ElmanError, TypeError):
    """A verb in Python was given something else than it takes: a string for a list, None for a text."""


class ConfigError(ElmanError):
    """An option or a key of a configuration is unknown, mistyped or out of range."""


class DataError(ElmanError):
    """A file cannot be read as what it was said to be."""


class ModelError(ElmanError):
    """A cell, a model or a model folder cannot do what was asked of it."""


class FormulaError(ModelError):
    """A cell's formula says something that cannot be traced."""


def check_option(name: str, value: object, valid: bool, expected: str) -> None:
    """Refuse a value that is not valid: ``width is 0; it must be at least 1``."""
    if not valid:
        raise ConfigError(f"{name} is {shorten(str(value))}; it must be {expected}")


def show_value(value: object) -> str:
    """A value as Python writes it, on one line, cut where it is long."""
    try:
        return shorten(repr(value), 60)
    except Exception:  # of a stranger's class, whose repr may do anything
        return f"a {type(value).__name__}"


def shorten(said: str, most: int = 200) -> str:
    """What is said, on one line, cut after so many characters."""
    said = " ".join(said.split())
    return said if len(said) <= most else f"{said[:most]}…"


def quote(text: str, most: int = 60) -> str:
    """The text in quotes, cut after `most` characters."""
    return repr(text) if len(text) <= most else f"{text[:most]!r}…"


def printable(name: str) -> str:
    """A file name as text can hold it: bytes that are not UTF-8 are escaped."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def quote_list(items: Sequence[str], most: int = 30) -> str:
    """The items in quotes, and how many more there are."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(map(quote, items[:most])) + more
