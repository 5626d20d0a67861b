"""Twelve cells with an equal budget, each in its own process: a text, and sequences of four times the length.

What `elman compare ... --text --long` does, for a GPU that has room for all cells at once and a machine without
the packages of the command line. ``--draw`` prints the table of JSON files and draws its picture; of several
files, each with another learning rate, the best result of each cell counts.

    python bench/cell_table.py --text shakespeare/input.txt --seconds 180 --out cells.json
    python bench/cell_table.py --text shakespeare/input.txt --seconds 180 --lr 3e-3 --out slower.json
    python bench/cell_table.py --draw cells.json slower.json --picture cells.png
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import subprocess
import sys
from math import inf, isfinite
from pathlib import Path

import torch

from elman.inspect.length_comparison import LengthComparison, LengthResult
from elman.inspect.text_comparison import TextComparison, TextResult, read_char_text

CELLS = ["elman", "gru", "lstm", "mogrifier", "slstm", "mingru"]
CELLS += ["minlstm", "ssru", "rg-lru", "sru", "indrnn", "qrnn"]


def run_cell(cell: str, options: argparse.Namespace) -> None:
    """One cell, in this process: the results as JSON on stdout."""
    torch.set_num_threads(1)
    common = {"parameters": options.parameters, "device": options.device, "seed": options.seed}
    each = options.seconds / 60 / (len(options.text) + 2)  # minutes of a text, of parity, of copying
    texts = [read_char_text(file) for file in options.text]
    # Kernels and libraries are compiled before the clock runs.
    list(TextComparison(updates=3, **common).run([cell], texts[0]))
    list(LengthComparison(updates=3, length=options.long, **common).run([cell]))
    common["lr"] = options.lr
    read = [next(TextComparison(minutes=each, **common).run([cell], text)) for text in texts]
    common["lr"] = options.length_lr or options.lr / 2
    count = next(LengthComparison(length=options.long, minutes=2 * each, **common).run([cell]))
    print(json.dumps({"texts": [*map(dataclasses.asdict, read)], "length": dataclasses.asdict(count)}))


def run_all(options: argparse.Namespace) -> None:
    """All cells at the same time, ``--jobs`` at once; what failed is said and left out."""
    waiting = list(options.cells)
    running: dict[str, subprocess.Popen[str]] = {}
    found = {
        "texts": [Path(file).parent.name for file in options.text],
        "seconds": options.seconds,
        "device": describe(options.device),
        "cells": [],
    }
    while waiting or running:
        while waiting and len(running) < options.jobs:
            cell = waiting.pop(0)
            command = [sys.executable, __file__, "--cell", cell, *sys.argv[1:]]
            running[cell] = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        cell, process = next(iter(running.items()))
        out, _ = process.communicate()
        del running[cell]
        if process.returncode:
            print(f"{cell} failed", file=sys.stderr)
            continue
        result = json.loads(out.splitlines()[-1])
        print(cell, [text["bits"] for text in result["texts"]], result["length"]["right"], file=sys.stderr)
        found["cells"].append(result)
        options.out.write_text(json.dumps(found))  # at once: the run may be ended


def describe(device: str) -> str:
    return torch.cuda.get_device_name(device) if device.startswith("cuda") else "CPU"


def draw(paths: list[Path], picture: Path | None) -> None:
    """The table as Markdown, and the picture."""
    files = [json.loads(path.read_text()) for path in paths]
    found, runs = files[0], list(zip(*(file["cells"] for file in files), strict=True))
    lengths = [
        max(
            (LengthResult(**{**row["length"], "right": restore(row["length"]["right"])}) for row in rows),
            key=lambda result: sum(right[min(right)] for right in result.right.values()),
        )
        for rows in runs
    ]
    texts = [
        [min((TextResult(**one) for one in each), key=find_bits) for each in zip(*some, strict=True)]
        for some in ([row["texts"] for row in rows] for rows in runs)
    ]
    tested = [(task, n) for task, by in lengths[0].right.items() for n in by]
    heads = ["cell", "width", "parameters"]
    heads += [f"{name}, bits/character | updates" for name in found["texts"]]
    heads += [f"{task} {n} %" for task, n in tested]
    print(f"| {' | '.join(heads)} |\n|{'---|' * (len(heads) + len(found['texts']))}")
    for read, count in sorted(zip(texts, lengths, strict=True), key=lambda pair: pair[0][0].bits):
        row = [f"`{read[0].cell}`", f"{read[0].width:,}", f"{read[0].parameters:,}"]
        row += [f"{one.bits:.3f} | {one.updates:,}" for one in read]
        print(f"| {' | '.join([*row, *(f'{count.right[task][n]:.1f}' for task, n in tested)])} |")
    if picture is not None:
        from elman.inspect.comparison_plots import plot_cell_table

        by_text = {name: {read[i].cell: [read[i]] for read in texts} for i, name in enumerate(found["texts"])}
        plot_cell_table(by_text, {count.cell: [count] for count in lengths}, picture)


def find_bits(result: TextResult) -> float:
    """What diverged comes last."""
    return result.bits if isfinite(result.bits) else inf


def restore(right: dict[str, dict[str, float]]) -> dict[str, dict[int, float]]:
    """Lengths are numbers again."""
    return {task: {int(n): value for n, value in by.items()} for task, by in right.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--text", nargs="+", help="the texts to train on")
    parser.add_argument("--cells", nargs="*", default=CELLS)
    parser.add_argument(
        "--seconds", type=float, default=180, help="of training for each cell: half for the text"
    )
    parser.add_argument("--parameters", type=int, default=200_000)
    parser.add_argument("--long", type=int, default=32, help="symbols of parity and copying in training")
    parser.add_argument("--lr", type=float, default=1e-2, help="learning rate for texts")
    parser.add_argument("--length-lr", type=float, help="for parity and copying; half of it if not said")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--jobs", type=int, default=12, help="processes at the same time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("cells.json"))
    parser.add_argument("--draw", type=Path, nargs="+", help="print and draw these files; nothing is trained")
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--cell", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.draw is not None:
        draw(options.draw, options.picture)
    elif options.cell is not None:
        run_cell(options.cell, options)
    else:
        run_all(options)


if __name__ == "__main__":
    main()
