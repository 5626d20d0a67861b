"""Bracketed trees with a label at every node, one a line: ``(3 (2 It) (4 (2 's) (4 lovely)))``."""

from __future__ import annotations

from collections.abc import Iterator

from elman.errors import DataError, quote
from elman.text.byte_source import Source, display_name
from elman.text.files import read_lines


def read_phrases(
    source: Source, *, roots: bool, encoding: str = "utf-8"
) -> Iterator[tuple[int, tuple[str, str]]]:
    """Words and label of every node, or of the ``roots`` only, with their line; -LRB- becomes ( again."""
    for number, line in read_lines(source, encoding=encoding):
        if line.strip():
            where = f"{display_name(source)}:{number}"
            nodes = _nodes(line, where)
            yield from ((number, node) for node in (nodes[-1:] if roots else nodes))


def _nodes(line: str, where: str) -> list[tuple[str, str]]:
    """(text, label) of each node, the root last."""
    done: list[tuple[str, str]] = []
    open_nodes: list[tuple[str, list[str]]] = []
    symbols = line.replace("(", " ( ").replace(")", " ) ").split()
    for place, symbol in enumerate(symbols):
        if symbol == "(":
            if done and not open_nodes:
                raise DataError(f"{where}: a second tree begins: {quote(line)}")
            label = symbols[place + 1] if place + 1 < len(symbols) else ")"
            if label in "()":
                raise DataError(f"{where}: a bracket opens without a label: {quote(line)}")
            open_nodes.append((label, []))
        elif symbol == ")":
            if not open_nodes:
                raise DataError(f"{where}: a bracket closes that was not opened: {quote(line)}")
            label, words = open_nodes.pop()
            if not words:
                raise DataError(f"{where}: a node has no words: {quote(line)}")
            done.append((" ".join(words), label))
            if open_nodes:
                open_nodes[-1][1].extend(words)
        elif symbols[place - 1] != "(" or not place:
            if not open_nodes:
                raise DataError(f"{where}: a word stands outside the tree: {quote(line)}")
            open_nodes[-1][1].append({"-LRB-": "(", "-RRB-": ")"}.get(symbol, symbol))
    if open_nodes:
        raise DataError(f"{where}: {len(open_nodes)} brackets are not closed: {quote(line)}")
    return done
