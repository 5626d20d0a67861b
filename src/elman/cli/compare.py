"""elman compare: cells side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from elman.cli.number_list import NumberList
from elman.cli.terminal import PICTURE, option, picture_format_option
from elman.errors import ConfigError
from elman.files.picture_files import plan_picture
from elman.ranges import PositiveFloat, PositiveInt, RunCount, Seed, Size


@click.command(short_help="Train cells side by side, on small tasks or on your text.")
@click.argument("cells", nargs=-1, metavar="[CELL]...")
@option("--text FILE", "Train a language model of characters of each cell on this text.", type=click.Path())
@option("--lengths N,N,…", "Test the memory over so many symbols. [default: 50]", type=NumberList())
@option("--width N", "Units of each cell. [default: 32]", type=Size)
@option(
    "--parameters N",
    "Parameters of each cell, nearly; of a model of a text all it has. [default of --text: 50,000]",
    type=PositiveInt,
)
@option(
    "--lr LR",
    "With --text: the learning rate, which falls to zero; half of it for --long. [default: 0.01]",
    type=PositiveFloat,
)
@option(
    "--long N",
    "With --text: also parity and copying of up to N symbols, tested at N and 4 N.",
    type=PositiveInt,
)
@option(
    "--device NAME",
    "With --text: auto, cpu, cuda or cuda:1; on a GPU in bfloat16.",
    default="cpu",
    show_default=True,
)
@option("--minutes M", "Time for everything, shared equally, instead of updates.", type=PositiveFloat)
@option("--seeds N", "Train each cell with N seeds: mean ± standard deviation.", type=RunCount, default=1)
@option("--seed N", "The first random seed, of weights and examples.", type=Seed, default=0, show_default=True)
@option("--picture FILE", "Where to plot the result. [default: compare.png]", type=PICTURE)
@picture_format_option
@click.option("--no-picture", is_flag=True, help="Do not plot.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
def compare(
    cells: tuple[str, ...], picture: Path | None, format: str | None, no_picture: bool, **options: Any
) -> None:
    """Compare cells: on a long-range memory task and one with little data, or on a text of yours.

    A CELL is the name of one of Elman's, or one of your own: mycells.py:mgu. Without names: elman, gru and
    lstm. Each cell is trained twice, in about ten seconds on two cores: to
    remember three variables over fifty symbols of noise, and to tell words from reversed words with 400
    examples. The picture shows how the gradient fades or grows through time. With --lengths, noise of up to the
    longest one is trained on, and each is tested.

    With --text, a small language model of characters is trained for each cell on the first nine tenths of the
    file: bits per character on the rest, fewer are better. Models have the same number of parameters, unless
    --width says how many units. With --long N, each cell also learns parity and copying on sequences of up to N
    symbols, and is tested on four times that length: half of the minutes are for the text, a quarter for each.

    \b
    Examples:
      elman compare
      elman compare elman relu gru lstm peephole-lstm --picture cells.pdf
      elman compare elman gru lstm --lengths 5,10,20,50 --seeds 3
      elman compare gru lstm mingru --text book.txt --minutes 5
      elman compare lstm mingru sru mogrifier --text book.txt --long 32 --minutes 12 --device auto
    """
    import torch

    from elman.cli.cell_table import compare_on_lengths
    from elman.cli.comparison_run import compare_on_tasks, compare_on_text
    from elman.devices import choose_device, find_device

    path = None if no_picture else plan_picture(picture or Path(f"compare.{format or 'png'}"), format)
    torch.set_num_threads(1)  # nets this small only lose by sharing their steps
    names = [*(cells or ("elman", "gru", "lstm"))]
    text, lengths, long, lr = (options.pop(name) for name in ("text", "lengths", "long", "lr"))
    device = str(find_device(choose_device(options.pop("device"))))
    if text is None:
        if long is not None or lr is not None or device != "cpu":
            raise ConfigError("--long, --lr and --device go with --text: which text?")
        compare_on_tasks(names, path, lengths=lengths or (), **options)
    elif lengths:
        raise ConfigError("--lengths is for the memory task, not for --text: leave one of them out")
    elif long is None:
        compare_on_text(names, path, text, device=device, **options | ({} if lr is None else {"lr": lr}))
    else:
        compare_on_lengths(names, path, text, length=long, lr=lr, device=device, **options)
