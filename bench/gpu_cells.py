"""Recurrent layers on a GPU by the generated kernel, against cuDNN in its best half precision.

Forward and backward of one layer, gradients of its input and all weights, float16. Each cell is right against
float64 over its whole length before it is timed. ``graph``: replays of a recorded CUDA graph; ``launched``: as
a program runs it, from Python. Medians; both sides in one run, one after the other. cuDNN's modules have
weights of 16 bits; ``torch.nn mixed`` has those of 32, as ours, and autocast.

    elman bench gpu_cells
    elman bench gpu_cells --shapes 64,512,512 16,1024,768 --json
"""

from __future__ import annotations

import argparse
import copy
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from elman.cells import CELLS, Cell, FormulaCell
from elman.formula import Gates, Matrices, State, formula, sigmoid, tanh
from elman.scan import scan

SHAPES = (
    *("64,512,512", "64,512,1024", "16,1024,768", "1,512,1024", "512,128,256", "8,512,1024", "32,64,128"),
    *("20,35,200", "128,35,650", "80,70,1150", "128,70,1152", "20,35,1504"),
)
PEERS = {"lstm": nn.LSTM, "elman": nn.RNN, "reset-after-gru": nn.GRU}
OTHERS = ("elman", "reset-after-gru", "gru", "own")  # besides the LSTM, at the first shape


@formula(gates="i f o z", states="h c")
def own(x: Gates, U: Matrices, s: State) -> State:
    """A cell that cuDNN does not have."""
    i, f, o, z = x + U(s.h)
    c = tanh(sigmoid(f) * s.c + sigmoid(i) * tanh(z))
    return State(h=sigmoid(o) * c, c=c)


def make_cell(name: str, size: int) -> Cell[Any]:
    cell = FormulaCell(own, size, size) if name == "own" else CELLS[name](size, size)
    return cell.cuda()


def make_step(
    run: Callable[[torch.Tensor], torch.Tensor], weights: Any, xs: torch.Tensor
) -> Callable[[], None]:
    inputs, grad = [xs, *weights], torch.randn_like(xs)

    def step() -> None:
        torch.autograd.grad(run(xs), inputs, grad)

    return step


def time_both(step: Callable[[], None]) -> dict[str, float]:
    """Milliseconds as a graph and launched."""
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return {"graph": take_median(graph.replay), "launched": take_median(step)}


def take_median(run: Callable[[], None], repeats: int = 9) -> float:
    found = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        run()
        torch.cuda.synchronize()
        found.append(1000 * (time.perf_counter() - begin))
    return statistics.median(found)


def measure_errors(name: str, rows: int, steps: int, size: int) -> dict[str, float]:
    """‖a − a₆₄‖ / ‖a₆₄‖ of y and of the gradients of x, W, b and U, on numbers that float16 has."""
    cell, xs = make_cell(name, size), torch.randn(rows, steps, size, device="cuda").half().float()
    for weight in cell.parameters():
        weight.data = weight.data.half().float()
    seed = torch.randn(rows, steps, size, device="cuda").half()

    def compute(cell: Any, xs: torch.Tensor, executor: str) -> dict[str, torch.Tensor]:
        xs = xs.requires_grad_()
        ys, _ = scan(cell, xs, executor=executor)
        inputs = {"dx": xs, "dW": cell.W, "db": cell.b} | {f"dU{i}": U for i, U in enumerate(cell.U)}
        gradients = torch.autograd.grad(ys, [*inputs.values()], seed.to(ys.dtype))
        return {"y": ys.detach(), **dict(zip(inputs, gradients, strict=True))}

    with torch.autocast("cuda", torch.float16):
        found = compute(cell, xs, "cuda")
    exact = compute(copy.deepcopy(cell).double(), xs.detach().double(), "codegen")
    return {key: float((found[key].double() - a).norm() / a.norm()) for key, a in exact.items()}


def measure(name: str, rows: int, steps: int, size: int) -> dict[str, Any]:
    cell = make_cell(name, size)
    result: dict[str, Any] = {"cell": name, "shape": [rows, steps, size]}
    result["errors"] = measure_errors(name, rows, steps, size)
    for executor in ("cuda", "auto"):
        xs = torch.randn(steps, rows, size, device="cuda").half().transpose(0, 1).requires_grad_()

        def run(xs: torch.Tensor, executor: str = executor) -> torch.Tensor:
            with torch.autocast("cuda", torch.float16):
                return scan(cell, xs, executor=executor)[0]

        result[executor] = time_both(make_step(run, cell.parameters(), xs))
    for dtype in (torch.float16, torch.bfloat16) if name in PEERS else ():
        peer = PEERS[name](size, size).cuda().to(dtype)
        xs = torch.randn(steps, rows, size, device="cuda", dtype=dtype, requires_grad=True)
        result[f"cuDNN {str(dtype)[6:]}"] = time_both(
            make_step(lambda x, m=peer: m(x)[0], peer.parameters(), xs)
        )
    if name in PEERS:
        result["torch.nn mixed"] = measure_mixed(PEERS[name](size, size).cuda(), rows, steps, size)
    return result


def measure_mixed(peer: nn.Module, rows: int, steps: int, size: int) -> dict[str, float]:
    """PyTorch's module with float32 weights under autocast: what mixed precision means for our cells, too."""
    xs = torch.randn(steps, rows, size, device="cuda", dtype=torch.float16, requires_grad=True)

    def run(xs: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cuda", torch.float16):
            found: torch.Tensor = peer(xs)[0]
            return found

    return time_both(make_step(run, peer.parameters(), xs))


def print_result(result: dict[str, Any]) -> None:
    errors = " ".join(f"{name} {error:.1e}" for name, error in result["errors"].items())
    line = f"{result['cell']} {tuple(result['shape'])} errors {errors}"
    for way in ("graph", "launched"):
        each = {name: times[way] for name, times in result.items() if name not in ("cell", "shape", "errors")}
        best = min((t for name, t in each.items() if name.startswith("cuDNN")), default=None)
        line += f" | {way}: " + ", ".join(f"{name} {t:.3f}" for name, t in each.items())
        line += f" (cuda {best / each['cuda']:.2f}x, auto {best / each['auto']:.2f}x)" if best else ""
    print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", nargs="+", default=SHAPES, help="rows, steps and units of the LSTMs")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("this benchmark needs a CUDA device")
    shapes = [tuple(map(int, shape.split(","))) for shape in options.shapes]
    wanted = [("lstm", *shape) for shape in shapes] + [(name, *shapes[0]) for name in OTHERS]
    results = []
    for one in wanted:
        results.append(measure(*one))
        if not options.json:
            print_result(results[-1])
    if options.json:
        print(json.dumps({"device": torch.cuda.get_device_name(), "results": results}))


if __name__ == "__main__":
    main()
