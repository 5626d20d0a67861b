"""Tokens with a number each: in colours on a terminal, else as numbers."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

import click

_SURPRISAL = ("green", "default", "yellow", "red", "bold red")
_WEIGHT = ("dim", "default", "yellow", "red", "bold red")
_AGAINST = ("dim", "default", "cyan", "blue", "bold blue")


def surprisal_color(nats: float) -> str:
    """A colour for each 2 nats."""
    return _SURPRISAL[min(int(max(nats, 0.0) / 2), len(_SURPRISAL) - 1)]


def weight_color(most: float) -> Callable[[float], str]:
    """From grey through yellow to red up to ``most``; below zero the same through blue."""

    def shade(value: float) -> str:
        size = min(abs(value) / most, 1.0) if most else 0.0
        step = sum(size >= edge for edge in (0.1, 0.3, 0.5, 0.8))
        return (_WEIGHT if value >= 0 else _AGAINST)[step]

    return shade


def show_tokens(
    pairs: Sequence[tuple[str, float]], shade: Callable[[float], str], *, blank: str, number: str = ".2f"
) -> None:
    """One line on stdout, with ``blank`` between the tokens where they are coloured."""
    shown = [(token.replace("\n", "⏎").replace("\t", "⇥"), value) for token, value in pairs]
    if not sys.stdout.isatty() or "NO_COLOR" in os.environ:
        click.echo("\t".join(f"{token} {value:{number}}" for token, value in shown))
        return
    from rich.console import Console
    from rich.text import Text

    line = Text()
    for token, value in shown:
        line.append(token, style=shade(value))
        line.append(blank)
    Console(highlight=False, soft_wrap=True).print(line)
