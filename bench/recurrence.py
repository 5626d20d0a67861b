"""Forward and backward of one layer on the CPU: Elman's executors, torch.nn, and a loop as people write it
(the input's product hoisted out of it by hand; the loop executor is the same cell, one step after the other).

Interleaved in one process, order reversed every other round, medians; figures are ratios of times (more than
1: ours is faster). ``--json`` prints one JSON object and nothing else.

    python bench/recurrence.py
    python bench/recurrence.py --threads 1 --rounds 15
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

from elman.cells import LSTM, Cell, Elman, ResetAfterGRU
from elman.scan import scan

SHAPES = [(32, 64, 256, 256), (16, 400, 128, 128)]  # B, T, I, H
CELLS: dict[str, tuple[type[Cell], Callable[..., nn.Module]]] = {
    "LSTM": (LSTM, nn.LSTM),
    "GRU": (ResetAfterGRU, nn.GRU),
    "Elman": (Elman, nn.RNN),
}


def lstm_loop(x: Tensor, U: Tensor, h: Tensor) -> Tensor:
    c, ys = h, []
    for t in range(x.shape[1]):
        i, f, z, o = torch.addmm(x[:, t], h, U.t()).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(z)
        h = torch.sigmoid(o) * torch.tanh(c)
        ys.append(h)
    return torch.stack(ys, 1)


def gru_loop(x: Tensor, U: Tensor, h: Tensor) -> Tensor:
    ys = []
    for t in range(x.shape[1]):
        (xr, xz, xn), (r, z, n) = x[:, t].chunk(3, 1), (h @ U.t()).chunk(3, 1)
        r, z = torch.sigmoid(xr + r), torch.sigmoid(xz + z)
        h = (1 - z) * torch.tanh(xn + r * n) + z * h
        ys.append(h)
    return torch.stack(ys, 1)


def elman_loop(x: Tensor, U: Tensor, h: Tensor) -> Tensor:
    ys = []
    for t in range(x.shape[1]):
        h = torch.tanh(torch.addmm(x[:, t], h, U.t()))
        ys.append(h)
    return torch.stack(ys, 1)


LOOPS = {"LSTM": lstm_loop, "GRU": gru_loop, "Elman": elman_loop}


def candidates(name: str, shape: tuple[int, ...]) -> dict[str, Callable[[], None]]:
    """One forward and backward of each way of running the same layer."""
    batch, steps, width, hidden = shape
    make, native = CELLS[name]
    cell, layer = make(width, hidden), native(width, hidden, batch_first=True)
    xs = torch.randn(batch, steps, width, requires_grad=True)
    grad, zero = torch.randn(batch, steps, hidden), torch.zeros(batch, hidden)

    def eager() -> Tensor:
        x = nn.functional.linear(xs, layer.weight_ih_l0, layer.bias_ih_l0 + layer.bias_hh_l0)
        return LOOPS[name](x, layer.weight_hh_l0, zero)

    ways = {
        "torch.nn": lambda: layer(xs)[0],
        "torch executor": lambda: scan(cell, xs, executor="torch")[0],
        "codegen executor": lambda: scan(cell, xs, executor="codegen")[0],
        "loop executor": lambda: scan(cell, xs, executor="loop")[0],
        "eager loop": eager,
    }

    def step(way: Callable[[], Tensor], module: nn.Module) -> Callable[[], None]:
        def run() -> None:
            module.zero_grad(set_to_none=True)
            xs.grad = None
            way().backward(grad)

        return run

    return {key: step(way, cell if "executor" in key else layer) for key, way in ways.items()}


def interleave(ways: dict[str, Callable[[], None]], rounds: int) -> dict[str, float]:
    """Median seconds of each way."""
    times: dict[str, list[float]] = {key: [] for key in ways}
    for number in range(rounds + 1):
        for key in list(ways) if number % 2 else list(reversed(ways)):
            start = time.perf_counter()
            ways[key]()
            if number:  # the first round warms up
                times[key].append(time.perf_counter() - start)
    return {key: statistics.median(values) for key, values in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    rows = []
    for shape in SHAPES:
        for name in CELLS:
            seconds = interleave(candidates(name, shape), options.rounds)
            row = {
                "cell": name,
                "shape": shape,
                "torch executor vs torch.nn": seconds["torch.nn"] / seconds["torch executor"],
                "codegen vs eager loop": seconds["eager loop"] / seconds["codegen executor"],
                "codegen vs loop executor": seconds["loop executor"] / seconds["codegen executor"],
                "codegen vs torch.nn": seconds["torch.nn"] / seconds["codegen executor"],
                "milliseconds": {key: round(1000 * value, 2) for key, value in seconds.items()},
            }
            rows.append(row)
            if not options.json:
                ratios = (f"{k} {v:.2f}x" for k, v in row.items() if isinstance(v, float))
                print(f"{name:5} {shape}: {', '.join(ratios)}  {row['milliseconds']}", flush=True)
    if options.json:
        json.dump({"threads": options.threads, "torch": torch.__version__, "rows": rows}, sys.stdout)


if __name__ == "__main__":
    main()
