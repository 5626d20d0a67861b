"""Bracketed trees: every node with its words, and what is no tree."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.errors import DataError
from elman.text.trees import _nodes, read_phrases

LOVELY = "(3 (2 It) (4 (2 's) (4 lovely)))"

words = st.text(st.characters(exclude_characters="()", exclude_categories=("Z", "C")), min_size=1)
trees = st.recursive(
    st.tuples(words, words), lambda inner: st.tuples(words, st.lists(inner, min_size=1, max_size=3))
)


def written(folder: Path, text: str) -> Path:
    path = folder / "trees.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_node_has_its_words_and_its_label(tmp_path: Path) -> None:
    found = list(read_phrases(written(tmp_path, LOVELY + "\n"), roots=False))
    assert sorted(found) == sorted(
        (1, node)
        for node in [("It", "2"), ("'s", "2"), ("lovely", "4"), ("'s lovely", "4"), ("It 's lovely", "3")]
    )


def test_the_roots_are_the_whole_lines(tmp_path: Path) -> None:
    file = written(tmp_path, f"{LOVELY}\n\n(0 (1 No) (2 .))\n")
    assert list(read_phrases(file, roots=True)) == [(1, ("It 's lovely", "3")), (3, ("No .", "0"))]


def test_bracketed_brackets_become_brackets(tmp_path: Path) -> None:
    file = written(tmp_path, "(2 (2 -LRB-) (2 (2 x) (2 -RRB-)))\n")
    assert list(read_phrases(file, roots=True)) == [(1, ("( x )", "2"))]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("(3 (2 It)", "1 brackets are not closed"),
        ("(3 It))", "closes that was not opened"),
        ("(3)", "no words"),
        ("()", "without a label"),
        ("((3 It))", "without a label"),
        ("It", "outside the tree"),
        ("(3 It) works", "outside the tree"),
        ("(3 It) (2 works)", "a second tree begins"),
        ("(", "without a label"),
        (")", "closes that was not opened"),
    ],
)
def test_what_is_no_tree_is_refused_with_its_line(tmp_path: Path, line: str, said: str) -> None:
    file = written(tmp_path, f"(1 a)\n{line}\n")
    with pytest.raises(DataError, match=rf"trees\.txt:2: .*{said}"):
        list(read_phrases(file, roots=True))


def shown(tree: tuple[str, object]) -> str:
    label, inside = tree
    return f"({label} {inside if isinstance(inside, str) else ' '.join(map(shown, inside))})"


def leaves(tree: tuple[str, object]) -> list[str]:
    inside = tree[1]
    return [inside] if isinstance(inside, str) else [w for one in inside for w in leaves(one)]


def nodes(tree: tuple[str, object]) -> list[tuple[str, str]]:
    inside = tree[1]
    below = [] if isinstance(inside, str) else [node for one in inside for node in nodes(one)]
    return [*below, (" ".join(leaves(tree)), tree[0])]


@given(trees)
def test_any_tree_is_read_as_it_was_written(tree: tuple[str, object]) -> None:
    assert _nodes(shown(tree), "here") == nodes(tree)


@given(st.text("()ab -LRB", max_size=30))
def test_any_line_gives_nodes_or_a_data_error(line: str) -> None:
    try:
        found = _nodes(line, "here")
    except DataError:
        return
    assert all(text and label for text, label in found)
