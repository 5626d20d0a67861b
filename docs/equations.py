"""Equations in docstrings keep their lines on the site: a paragraph of them becomes a block of code."""

from typing import Any

import griffe


class Equations(griffe.Extension):
    """Indents paragraphs in which every line is an equation."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            paragraphs = obj.docstring.value.split("\n\n")
            obj.docstring.value = "\n\n".join(map(_set, paragraphs))


def _set(paragraph: str) -> str:
    lines = paragraph.split("\n")
    if all(" = " in line for line in lines):
        return "\n".join(f"    {line}" for line in lines)
    return paragraph
