"""A table of shares as HTML, the larger the bluer: how a notebook shows attention."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def heat_table(shares: Sequence[Sequence[float]], *, columns: Sequence[str], rows: Sequence[str]) -> str:
    """One cell for each share from 0 to 1, with its value as a tooltip; names along the top and the side."""
    head = "".join(f"<th>{_visible(name)}</th>" for name in columns)
    body = "".join(
        f"<tr><th>{_visible(name)}</th>{''.join(map(_cell, line))}</tr>"
        for name, line in zip(rows, shares, strict=True)
    )
    return f"<table><tr><th></th>{head}</tr>{body}</table>"


def _cell(share: float) -> str:
    # Dark enough for white letters from about a half on.
    ink = "white" if share > 0.55 else "inherit"
    text = f"{share:.2f}" if share >= 0.1 else ""
    return f'<td title="{share:.3f}" style="background:rgba(31,90,160,{share:.2f});color:{ink}">{text}</td>'


def _visible(token: str) -> str:
    return escape(token.replace(" ", "␣").replace("\n", "⏎")) or "∅"
