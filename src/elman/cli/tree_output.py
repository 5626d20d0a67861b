"""Trees of beam searches in files: pictures, or lines of text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elman.cli.terminal import option, say
from elman.errors import ConfigError
from elman.files.picture_files import plan_picture

if TYPE_CHECKING:
    from elman.decoding import BeamTree


class TreePath(click.Path):
    """The path of a tree that can be written: a picture, or a text."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path: Any = super().convert(value, param, ctx)
        if path.suffix.lower() == ".txt":
            return Path(path)
        if not path.suffix:
            raise ConfigError(f"{path}: a tree ends in .png, .svg, .pdf or .txt")
        return plan_picture(path)


tree_option = option(
    "--beam-tree FILE",
    "Write the beam search as a tree: what was kept, what was pruned and why; .png, .svg, .pdf or .txt.",
    type=TreePath(dir_okay=False, path_type=Path),
)
"""The option of verbs that search."""


def write_tree(tree: BeamTree, path: Path, *, about: str, number: int = 1) -> None:
    """The tree of the first answer at ``path``, that of the second beside it: FILE-2."""
    from elman.decoding import format_tree
    from elman.files.atomic_files import write_result
    from elman.inspect.tree_plot import plot_tree

    path = path.with_stem(f"{path.stem}-{number}") if number > 1 else path
    try:
        if path.suffix.lower() == ".txt":
            write_result(path, f"{format_tree(tree)}\n".encode())
        else:
            plot_tree(tree, path, about=about)
    except OSError as error:
        raise ConfigError(f"--beam-tree: {path} cannot be written ({error.strerror})") from None
    say(f"beam tree: {path}")
