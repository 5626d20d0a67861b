"""elman average: checkpoint averaging."""

from __future__ import annotations

from pathlib import Path

import click

from elman.cli.model_args import cell_option, given_cell
from elman.cli.terminal import FOLDER, option, overwrite_option, say


@click.command(short_help="Average the weights of several models.")
@click.argument("folders", nargs=-1, required=True, metavar="DIR DIR...", type=FOLDER)
@option("--out DIR", "The model folder to write.", type=FOLDER, required=True)
@overwrite_option
@cell_option
def average(folders: tuple[Path, ...], out: Path, overwrite: bool) -> None:
    """Average the weights of several models (checkpoint averaging).

    The models must have the same task and vocabulary and descend from the same weights: checkpoints of one
    run, or models fine-tuned with --init. The mean of models that were trained independently is useless; use
    them as an ensemble instead (elman translate --with).

    \b
    Example:
      elman average models/en-de models/en-de-more --out models/en-de-mean
    """
    from elman.pipeline.average_models import average

    average(folders, out, overwrite=overwrite, cell=given_cell())
    say(f"model: {out}")
