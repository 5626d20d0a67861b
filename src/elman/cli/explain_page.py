"""elman explain: one offline page in which a model runs."""

from __future__ import annotations

import os
from pathlib import Path

import click

from elman.cli.model_args import model_argument
from elman.cli.output_file import check_output
from elman.cli.terminal import option, say
from elman.errors import ConfigError
from elman.number_format import format_size


@click.command("explain", short_help="Write an offline page in which the model runs.")
@model_argument
@option("--text", "Text that the page opens with. [default: of a language model, one that it writes]")
@option("--out FILE", "The page.", required=True, type=click.Path(dir_okay=False, path_type=Path))
@option("--half", "Store weights in 16 bits; the page says so.", is_flag=True)
def explain_model(folder: Path, text: str | None, out: Path, half: bool) -> None:
    """Write one page in which the model in DIR runs: open it in a browser, and type.

    The page needs no server and no network. It shows tokens, surprise, every gate of every layer, which
    earlier tokens a unit still holds, attention, the tree of a beam search, labels and tags. The cell runs in
    JavaScript that is printed from its formula; the formula can be changed on the page.

    A page has at most 5 MB. Larger models fit with --half, which rounds their weights.

    \b
    Examples:
      elman explain models/topics --out topics.html
      elman explain models/shakespeare --text "To be, or not" --out shakespeare.html
    """
    if out.suffix.lower() not in (".html", ".htm"):  # --out with the name of something else would replace it
        raise ConfigError(f"--out {out}: a page ends in .html")
    check_output("--out", out)
    from elman.artifact import load
    from elman.live_page import write_page

    text = text and os.fsencode(text).decode("utf-8", "replace")  # whatever the locale made of its bytes
    size = write_page(load(folder, device="cpu"), out, text=text, half=half)
    rounded = ", its weights rounded to 16 bits" if half else ""
    say(f"page: {out} ({format_size(size)}{rounded}); open it in a browser")
