"""elman new: files to begin with; so far that of a cell of one's own."""

from __future__ import annotations

import re
from keyword import iskeyword
from pathlib import Path

import click

from elman.cli.cell_template import CELL_FILE
from elman.cli.ordered_group import OrderedGroup
from elman.cli.output_file import check_output
from elman.cli.terminal import option, say
from elman.errors import ConfigError, printable, quote
from elman.files.atomic_files import write_result


@click.group(cls=OrderedGroup, short_help="Write a file to begin with: a cell of your own.")
def new() -> None:
    """Write a file to begin with.

    \b
    Example:
      elman new cell mgu
    """


@new.command(short_help="Write a cell of your own, with its tests and the command to train it.")
@click.argument("name")
@option("--out FILE.py", "The file to write. [default: NAME.py]", type=click.Path(path_type=Path))
def cell(name: str, out: Path | None) -> None:
    """Write a Python file with the formula of a cell, tests of its laws and the commands to train it.

    The formula is a minimal gated unit: a few commented lines to change.

    \b
    Examples:
      elman new cell mgu
      elman new cell mgu --out cells/mgu.py
    """
    path = out or Path(f"{name}.py")
    check_cell_name(name)
    if path.suffix != ".py":
        raise ConfigError(f"--out {path}: a Python file ends in .py")
    check_output("--out", path)
    if path.exists():
        raise ConfigError(f"{path} is there already; choose another --out, or delete it")
    shown = printable(str(path)).replace("\\", r"\\")  # in a string of Python
    write_result(path, CELL_FILE.replace("NAME", name).replace("FILE", shown).encode())
    say(f"wrote {path}: change the formula in it, then")
    say(f"  pytest {path}")
    say(f"  elman compare lstm {path}:{name}")


def check_cell_name(name: str) -> None:
    """Refuse what cannot be the name of a cell's function in its file."""
    from elman.cells import CELLS

    if not name.isidentifier() or iskeyword(name) or name.startswith(("_", "test")):
        raise ConfigError(f"{quote(name)} cannot be the name of a cell; take one such as my_cell")
    if name in CELLS:
        raise ConfigError(f"{name!r} is a cell of Elman's; choose another name")
    if name in re.findall(r"\w+", CELL_FILE):
        raise ConfigError(f"{name!r} is a word of the file itself; choose another name")
