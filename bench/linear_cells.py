"""Recurrences of single units against what ran them before: on a GPU by kernels, on a CPU by C++.

On a GPU: minGRU and SSRU at (64, 512, 512) against cuDNN's LSTM in both half precisions; minGRU at
(8, 8192, 512) against one thread a unit (the fused loop) and codegen, and at T from 1 to 4096 against the
fused loop. Each is right against float64 before it is timed. ``graph``: replays of a recorded CUDA graph;
``launched``: as a program runs it. On a CPU: (16, 400, 128) against other executors. Medians, interleaved.

    elman bench linear_cells
    elman bench linear_cells --device cpu --json
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from elman.cells import CELLS, Cell
from elman.scan import scan
from elman.scan.execution import Execution
from elman.scan.executors.parallel import cuda_units
from elman.scan.executors.parallel.kernel_text import KernelShape
from elman.scan.executors.parallel.unit_recurrence import run_units
from elman.scan.executors.parallel.unit_tuning import find_cuda_units

Step = Callable[[], None]
HALVES = (torch.float16, torch.bfloat16)


class FusedLoop(cuda_units.CudaUnits):
    """The same kernels' arithmetic with one thread a unit, from the first token to the last."""

    def choose_shape(self, given: Any, *, backward: bool) -> KernelShape:
        return KernelShape(given.X.dtype, 8, loop=True)


def make_step(run: Callable[[Tensor], Tensor], module: nn.Module, xs: Tensor, dtype: torch.dtype) -> Step:
    """Forward and backward of a layer."""
    inputs = [xs, *module.parameters()]
    grad = None

    def step() -> None:
        nonlocal grad
        with torch.autocast("cuda", dtype, enabled=xs.is_cuda and dtype is not torch.float32):
            ys = run(xs)
        grad = torch.randn_like(ys) if grad is None else grad
        torch.autograd.grad(ys, inputs, grad)

    return step


def ways(cell: Cell[Any], xs: Tensor, dtype: torch.dtype, names: list[str]) -> dict[str, Step]:
    loop = FusedLoop(cell.formula)  # type: ignore[attr-defined]
    runs: dict[str, Callable[[Tensor], Tensor]] = {
        "parallel": lambda x: scan(cell, x, executor="parallel")[0],
        "fused loop": lambda x: run_units(cell, x, cell.initial(x), Execution.begin(x, None), loop)[0],  # type: ignore[arg-type]
    }
    for name in ("codegen", "cpu", "loop"):
        runs[name] = lambda x, name=name: scan(cell, x, executor=name)[0]
    return {name: make_step(runs[name], cell, xs, dtype) for name in names}


def time_launched(steps: dict[str, Step], rounds: int) -> dict[str, float]:
    """Median milliseconds of each, taken in turns."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for number in range(rounds + 2):
        for name in steps if number % 2 else reversed(steps):
            start = time.perf_counter()
            steps[name]()
            if torch.cuda.is_available():
                torch.cuda.synchronize()
            if number >= 2:  # two rounds warm up
                times[name].append(1e3 * (time.perf_counter() - start))
    return {name: statistics.median(each) for name, each in times.items()}


def record(step: Step) -> Step:
    """The same as replays of a CUDA graph."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def check(cell: Cell[Any], xs: Tensor, dtype: torch.dtype) -> float:
    """The largest error of y and of dx against float64, in units of the largest value."""

    def compute(cell: Cell[Any], xs: Tensor, executor: str) -> list[Tensor]:
        xs = xs.detach().requires_grad_()
        with torch.autocast("cuda", dtype, enabled=xs.dtype is torch.float32 and dtype is not torch.float32):
            ys, _ = scan(cell, xs, executor=executor)
        torch.manual_seed(5)
        (dx,) = torch.autograd.grad(ys, xs, torch.randn(ys.shape).to(ys))
        return [ys.detach().double(), dx.double()]

    ours = compute(cell, xs, "parallel")
    theirs = compute(cell.double(), xs.double(), "codegen" if xs.shape[1] <= 1024 else "parallel")
    cell.float()
    return max(((a - b).abs().max() / b.abs().max()).item() for a, b in zip(ours, theirs, strict=True))


def measure(title: str, steps: dict[str, Step], rounds: int, graphed: bool = True) -> list[dict[str, Any]]:
    found = [("launched", time_launched(steps, rounds))]
    if graphed:
        found.append(("graph", time_launched({name: record(step) for name, step in steps.items()}, rounds)))
    return [{"what": title, "how": how, "ms": ms} for how, ms in found]


def run_gpu(rounds: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for cell_name in ("mingru", "ssru"):
        cell, xs = (
            CELLS[cell_name](512, 512).cuda(),
            torch.randn(64, 512, 512, device="cuda", requires_grad=True),
        )
        for dtype in HALVES:
            lstm = nn.LSTM(512, 512, batch_first=True).cuda()
            right = check(cell, xs[:8], dtype)
            steps = {"cuDNN LSTM": make_step(lambda x, lstm=lstm: lstm(x)[0], lstm, xs, dtype)}
            steps |= ways(cell, xs, dtype, ["parallel", "fused loop"])
            title = f"{cell_name} (64, 512, 512) {str(dtype)[6:]}, error {right:.1e}"
            rows += measure(title, steps, rounds)
    cell, xs = CELLS["mingru"](512, 512).cuda(), torch.randn(8, 8192, 512, device="cuda", requires_grad=True)
    right = check(cell, xs, torch.bfloat16)
    title = f"mingru (8, 8192, 512) bfloat16, error {right:.1e}"
    rows += measure(title, ways(cell, xs, torch.bfloat16, ["parallel", "fused loop"]), rounds)
    rows += measure(title, ways(cell, xs, torch.bfloat16, ["parallel", "codegen"]), 1, graphed=False)
    rows += measure("the recurrence alone, " + title, recurrences(cell, xs), rounds)
    for steps in (1, 4, 16, 64, 256, 1024, 4096):
        xs = torch.randn(16, steps, 512, device="cuda", requires_grad=True)
        rows += measure(
            f"mingru (16, {steps}, 512) bfloat16",
            ways(cell, xs, torch.bfloat16, ["parallel", "fused loop"]),
            rounds,
        )
    return rows


def recurrences(cell: Cell[Any], xs: Tensor) -> dict[str, Step]:
    """Without the products of the input."""
    from elman.scan.executors.parallel.unit_values import UnitInputs

    rows, steps, width = xs.shape
    X = torch.randn(rows * steps, 2 * width, device="cuda", dtype=torch.bfloat16)
    state = [torch.zeros(rows, width, device="cuda")]
    starts = torch.arange(0, rows * steps + 1, steps, device="cuda")
    given = UnitInputs(X, state, [], [], starts, steps, False)

    def make(program: cuda_units.CudaUnits) -> Step:
        def step() -> None:
            results = program.read(given, keep=True)
            program.give_back(given, results, results.Y, state)

        return step

    formula = cell.formula  # type: ignore[attr-defined]
    return {"parallel": make(find_cuda_units(formula)), "fused loop": make(FusedLoop(formula))}


def run_cpu(rounds: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for name in ("mingru", "minlstm", "ssru", "rg-lru", "hgrn", "qrnn", "sru", "indrnn", "para-gru"):
        cell, xs = CELLS[name](128, 128), torch.randn(16, 400, 128, requires_grad=True)
        steps = ways(cell, xs, torch.float32, ["parallel", "cpu", "codegen", "loop"])
        rows += measure(f"{name} (16, 400, 128) float32", steps, rounds, graphed=False)
    cell = CELLS["mingru"](128, 128)
    for steps_count in (1, 2, 5, 25, 100, 1600):
        xs = torch.randn(16, steps_count, 128, requires_grad=True)
        steps = ways(cell, xs, torch.float32, ["parallel", "cpu", "loop"])
        rows += measure(f"mingru (16, {steps_count}, 128) float32", steps, rounds, graphed=False)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--device", choices=("cuda", "cpu"), default="cuda" if torch.cuda.is_available() else "cpu"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    rows = run_gpu(options.rounds) if options.device == "cuda" else run_cpu(options.rounds)
    if options.json:
        print(json.dumps({"torch": torch.__version__, "rows": rows}))
        return
    for row in rows:
        ours = row["ms"]["parallel"]
        each = ", ".join(f"{name} {ms:.3f} ms ({ms / ours:.2f}x)" for name, ms in row["ms"].items())
        print(f"{row['what']}, {row['how']}: {each}", flush=True)


if __name__ == "__main__":
    main()
