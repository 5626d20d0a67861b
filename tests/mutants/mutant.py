"""Mutants of a source file: one node changed in each, but nothing that only people or type checkers read."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.mutants.operators import UNSEEN_KEYWORDS, mutate

UNSEEN_CALLS = ("cast", "TypeVar", "NewType", "TaskDefaults")
STATEMENTS_WITH_BODY = (ast.If, ast.While)


class Mutant(NamedTuple):
    """``source[start:end]`` of a file replaced. The key names it also after lines above it have moved."""

    path: str
    line: int
    last_line: int
    start: int
    end: int
    replacement: str
    key: str

    def apply(self, source: bytes) -> bytes:
        return source[: self.start] + self.replacement.encode() + source[self.end :]


def mutants(root: Path, path: Path) -> Iterator[Mutant]:
    """Every mutant of a file, in the order of its source."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    name = path.relative_to(root).as_posix()
    repeats: Counter[str] = Counter()
    for node, scope in visible_nodes(ast.parse(source), ""):
        changed_part = node.test if isinstance(node, STATEMENTS_WITH_BODY) else node
        for other in mutate(node):
            shown = other.test if isinstance(other, STATEMENTS_WITH_BODY) else other
            before, after = ast.unparse(changed_part), ast.unparse(shown)
            if before == after:
                continue
            start = starts[changed_part.lineno - 1] + changed_part.col_offset
            end = starts[changed_part.end_lineno - 1] + changed_part.end_col_offset
            key = f"{name} {scope}: {one_line(before)} -> {one_line(after)}"
            repeats[key] += 1
            key += f" #{repeats[key]}" if repeats[key] > 1 else ""
            text = after if isinstance(shown, ast.stmt) else f"({after})"
            yield Mutant(name, changed_part.lineno, changed_part.end_lineno, start, end, text, key)


def one_line(code: str) -> str:
    return " ".join(code.split())


def visible_nodes(node: ast.AST, scope: str) -> Iterator[tuple[ast.AST, str]]:
    """The nodes that decide what a program does, with the name of the function they stand in."""
    for child in ast.iter_child_nodes(node):
        if is_hidden(child, node):
            continue
        inner = scope
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{scope}.{child.name}".strip(".")
        if hasattr(child, "lineno"):
            yield child, inner
        if not isinstance(child, ast.Raise):  # the words of an error
            yield from visible_nodes(child, inner)


def is_hidden(node: ast.AST, parent: ast.AST) -> bool:
    """Imports, annotations, decorators, words, our own assertions, and the defaults of options.

    A test of a default would only repeat it.
    """
    if isinstance(node, ast.Import | ast.ImportFrom | ast.JoinedStr | ast.Assert | ast.arguments):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.keyword):
        return node.arg in UNSEEN_KEYWORDS
    if isinstance(node, ast.If):
        return "TYPE_CHECKING" in ast.unparse(node.test)
    if isinstance(node, ast.Assign | ast.AugAssign):
        return ast.unparse(node).startswith(("__all__", "__slots__")) or is_type(node.value)
    if isinstance(node, ast.AnnAssign) and isinstance(parent, ast.ClassDef):
        return True
    if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in UNSEEN_CALLS:
        return True
    if isinstance(node, ast.ClassDef):
        return any("Protocol" in ast.unparse(base) for base in node.bases)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return any(ast.unparse(each).endswith("overload") for each in node.decorator_list)
    annotations = (getattr(parent, "annotation", None), getattr(parent, "returns", None))
    return node in annotations or node in getattr(parent, "decorator_list", ())


def is_type(node: ast.AST) -> bool:
    """``int | float`` and the like, not a union of sets that are computed."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return all(
            isinstance(side, ast.Name | ast.Subscript) or is_type(side) for side in (node.left, node.right)
        )
    return False
