"""elman average: one model of several."""

from __future__ import annotations

from pathlib import Path

import click

from elman.cli.terminal import say

FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command(short_help="Write the mean of several models.")
@click.argument("folders", nargs=-1, required=True, metavar="DIR DIR...", type=FOLDER)
@click.option("--out", metavar="DIR", type=FOLDER, required=True, help="The model folder to write.")
def average(folders: tuple[Path, ...], out: Path) -> None:
    """Write a model whose weights are the mean of those of several.

    It is for models of one task and one vocabulary that began from the same weights: what one run gave
    after different times, or what was trained on with --init. The mean of models that were trained apart
    is worthless; let them write together instead (elman translate --with).

    \b
    Example:
      elman average models/en-de models/en-de-more --out models/en-de-mean
    """
    from elman.learning.averaging import average

    average(folders, out)
    say(f"model: {out}")
