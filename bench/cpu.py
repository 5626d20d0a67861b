"""One layer on the CPU: Elman as a user calls it beside torch.nn, forward and backward.

Interleaved in one process, order reversed every other round, medians; figures are ratios of times (more than
1: Elman is faster) and the share that Elman reaches of the rate of one large matrix product.
``--json`` prints one object of the ratios and nothing else.

    elman bench cpu
    elman bench cpu --threads 1 --rounds 15
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from elman.cells import LSTM, Elman, FormulaCell, ResetAfterGRU
from elman.formula import Gates, Matrices, State, formula, sigmoid, tanh
from elman.layers import BiRNN
from elman.layers.embedding import Embedding
from elman.scan import scan

SHAPES = {"512": (32, 128, 512, 512), "200": (20, 35, 200, 200), "long": (16, 400, 128, 128)}  # B, T, I, H
CELLS = {"lstm": (LSTM, nn.LSTM), "gru": (ResetAfterGRU, nn.GRU), "elman": (Elman, nn.RNN)}
OWN_SHAPES = [(20, 35, 200, 200), (32, 64, 256, 256), (16, 400, 128, 128)]
CHARACTERS = 100
Ways = tuple[Callable[[], Tensor], Callable[[], Tensor], nn.Module, nn.Module, float]


@formula(gates="f n")
def minimal(x: Gates, U: Matrices, s: State) -> State:
    """The minimal gated unit, its product before the gate: a cell that torch lacks."""
    f = sigmoid(x.f + U.f(s.h))
    return State(h=s.h + f * (tanh(x.n + f * U.n(s.h)) - s.h))


def minimal_loop(x: Tensor, U: Tensor, h: Tensor) -> Tensor:
    """The same as people write it, the input's product hoisted by hand."""
    ys = []
    for t in range(x.shape[1]):
        (xf, xn), (f, n) = x[:, t].chunk(2, 1), (h @ U.t()).chunk(2, 1)
        f = torch.sigmoid(xf + f)
        h = h + f * (torch.tanh(xn + f * n) - h)
        ys.append(h)
    return torch.stack(ys, 1)


def full(name: str, shape: tuple[int, ...]) -> Ways:
    batch, steps, width, hidden = shape
    make, native = CELLS[name]
    cell, layer = make(width, hidden), native(width, hidden, batch_first=True)
    xs = torch.randn(batch, steps, width, requires_grad=True)
    work = count_work(batch * steps, len(cell.formula.gates), width, hidden)
    return lambda: scan(cell, xs)[0], lambda: layer(xs)[0], cell, layer, work


def packed(name: str) -> Ways:
    """Lengths as sentences have them; both begin and end with a padded batch."""
    make, native = CELLS[name]
    cell, layer = make(256, 256), native(256, 256, batch_first=True)
    xs, lengths, mask = sentences(32, 80, 256)

    def theirs() -> Tensor:
        ys, _ = layer(pack_padded_sequence(xs, lengths, True, enforce_sorted=False))
        return pad_packed_sequence(ys, True)[0]

    work = count_work(int(mask.sum()), len(cell.formula.gates), 256, 256)
    return lambda: scan(cell, xs, mask)[0], theirs, cell, layer, work


def own(shape: tuple[int, ...]) -> Ways:
    batch, steps, width, hidden = shape
    cell = FormulaCell(minimal, width, hidden)
    xs, zero = torch.randn(batch, steps, width, requires_grad=True), torch.zeros(batch, hidden)
    eager = lambda: minimal_loop(nn.functional.linear(xs, *cell.affine()), cell.matrices()[0], zero)  # noqa: E731
    return lambda: scan(cell, xs)[0], eager, cell, cell, count_work(batch * steps, 2, width, hidden)


def folded(shape: tuple[int, ...]) -> Ways:
    """A layer that reads characters: ours computes the input's product once for each of them."""
    batch, steps, width, hidden = shape
    ours = nn.ModuleList([Embedding(CHARACTERS, width), LSTM(width, hidden)])
    theirs = nn.ModuleList([nn.Embedding(CHARACTERS, width), nn.LSTM(width, hidden, batch_first=True)])
    often = 1 / torch.arange(1, CHARACTERS + 1)
    ids = torch.multinomial(often, batch * steps, replacement=True).view(batch, steps)
    (embed, cell), (E, layer) = ours, theirs
    work = count_work(batch * steps, 4, width, hidden)
    return lambda: scan(cell, embed.look_up(ids))[0], lambda: layer(E(ids))[0], ours, theirs, work


def tagger() -> Ways:
    """Prediction: both directions over sentences in the order in which they come."""
    ours = BiRNN(LSTM(256, 256), LSTM(256, 256))
    layer = nn.LSTM(256, 256, batch_first=True, bidirectional=True)
    xs, lengths, mask = sentences(128, 60, 256)

    @torch.no_grad()
    def theirs() -> Tensor:
        ys, _ = layer(pack_padded_sequence(xs, lengths, True, enforce_sorted=False))
        return pad_packed_sequence(ys, True)[0]

    mine = torch.no_grad()(lambda: ours(xs, mask)[0])
    return mine, theirs, ours, layer, count_work(int(mask.sum()), 8, 256, 256) / 3


def sentences(count: int, longest: int, width: int) -> tuple[Tensor, Tensor, Tensor]:
    lengths = torch.distributions.LogNormal(3.0, 0.6).sample((count,)).clamp(3, longest).long()
    xs = torch.randn(count, int(lengths.max()), width, requires_grad=True)
    return xs, lengths, torch.arange(xs.shape[1]) < lengths[:, None]


def count_work(tokens: int, gates: int, width: int, hidden: int) -> float:
    """Additions and multiplications of forward and backward."""
    return 6.0 * tokens * gates * hidden * (width + hidden)


def measure(ways: Ways, rounds: int) -> tuple[float, float]:
    """Their time by ours, and the operations that we did in a second."""
    each = [step(way, module) for way, module in zip(ways[:2], ways[2:4], strict=True)]
    times: list[list[float]] = [[], []]
    for number in range(rounds + 1):
        for which in (0, 1) if number % 2 else (1, 0):
            start = time.perf_counter()
            each[which]()
            if number:  # the first round warms up
                times[which].append(time.perf_counter() - start)
    ours, theirs = map(statistics.median, times)
    return theirs / ours, ways[4] / ours


def step(way: Callable[[], Tensor], module: nn.Module) -> Callable[[], None]:
    seed: list[Tensor] = []

    def run() -> None:
        module.zero_grad(set_to_none=True)
        ys = way()
        if ys.requires_grad:
            seed[:] = seed or [torch.randn_like(ys)]
            ys.backward(seed[0])

    return run


def product_rate() -> float:
    a = torch.randn(2048, 2048)
    times = []
    for _ in range(20):
        start = time.perf_counter()
        a @ a
        times.append(time.perf_counter() - start)
    return 2 * 2048**3 / min(times)


def cases() -> dict[str, list[Callable[[], Ways]]]:
    """What each key is the geometric mean of."""
    found: dict[str, list[Callable[[], Ways]]] = {}
    for name in CELLS:
        for key, shape in SHAPES.items():
            if (name, key) != ("lstm", "long"):
                found[f"{name}_{key}"] = [lambda name=name, shape=shape: full(name, shape)]
    found["packed"] = [lambda name=name: packed(name) for name in CELLS]
    found["own_cell"] = [lambda shape=shape: own(shape) for shape in OWN_SHAPES]
    found["tagger"] = [tagger]
    found["folded_char"] = [lambda key=key: folded(SHAPES[key]) for key in ("512", "long")]
    return found


def run(threads: int, rounds: int, only: list[str], quiet: bool) -> dict[str, float]:
    torch.set_num_threads(threads)
    rate, ratios = product_rate(), {}
    if not quiet:
        print(f"{threads} threads, one large product {rate / 1e9:.0f} GFLOP/s")
    for key, makers in cases().items():
        if only and key not in only:
            continue
        torch.manual_seed(0)
        found = [measure(make(), rounds) for make in makers]
        ratios[key] = round(math.exp(statistics.mean(math.log(ratio) for ratio, _ in found)), 3)
        if not quiet:
            shares = ", ".join(f"{done / rate:.0%}" for _, done in found)
            print(f"  {key:10} {ratios[key]:.2f}x   share of the large product {shares}", flush=True)
    return ratios


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", nargs="+", default=[], help="keys of --json to measure")
    parser.add_argument("--json", action="store_true", help="one object, with the last count of threads")
    options = parser.parse_args()
    counts = options.threads[-1:] if options.json else options.threads
    ratios = [run(count, options.rounds, options.only, options.json) for count in counts]
    if options.json:
        json.dump(ratios[-1], sys.stdout)


if __name__ == "__main__":
    main()
