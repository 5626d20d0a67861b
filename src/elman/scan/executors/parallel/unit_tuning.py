"""How the time of a row is divided among threads, or left to one: measured once for each shape."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import torch

from elman.formula import Formula
from elman.scan.executors.cuda.launch import find_architecture
from elman.scan.executors.cuda.notes import Note
from elman.scan.executors.cuda.nvrtc import compile_kernel
from elman.scan.executors.cuda.timing import time_graph
from elman.scan.executors.parallel.cuda_units import CudaUnits, FixedUnits, list_chunks, print_kernel
from elman.scan.executors.parallel.kernel_text import KernelShape
from elman.scan.executors.parallel.unit_plan import UnitPlan
from elman.scan.executors.parallel.unit_values import UnitInputs, UnitResults

_MARGIN = 1.02  # by how much a scan must be faster than the loop to be taken


class UnitWork(NamedTuple):
    """What is measured: about so many rows and steps."""

    rows: int
    steps: int
    width: int
    element: torch.dtype

    @classmethod
    def of(cls, given: UnitInputs) -> UnitWork:
        rows, width = given.state[0].shape
        rows, steps = (1 << (n - 1).bit_length() for n in (rows, given.steps))
        return cls(rows, steps, width, given.X.dtype)


Chosen = tuple[KernelShape, KernelShape]  # forward, backward


class TunedUnits(CudaUnits):
    """Each kernel with the shape that was the fastest for about so much work."""

    def __init__(self, formula: Formula) -> None:
        super().__init__(formula)
        self._chosen: dict[tuple[UnitWork, torch.device], Chosen] = {}

    def read(self, given: UnitInputs, *, keep: bool) -> UnitResults:
        rule, device = super().choose_shape(given, backward=False), given.X.device
        key = (UnitWork.of(given), device)
        if not rule.loop and key not in self._chosen and not torch.cuda.is_current_stream_capturing():
            note = Note(device, self.plan.formula, ("units", *key[0]))
            found = note.read() or note.write(_measure(self.plan, given, rule))
            self._chosen[key] = tuple(replace(rule, **found[way]) for way in ("forward", "backward"))  # type: ignore[assignment]
        return super().read(given, keep=keep)

    def choose_shape(self, given: UnitInputs, *, backward: bool) -> KernelShape:
        chosen = self._chosen.get((UnitWork.of(given), given.X.device))
        return super().choose_shape(given, backward=backward) if chosen is None else chosen[backward]


def _measure(plan: UnitPlan, given: UnitInputs, rule: KernelShape) -> dict[str, Any]:
    shapes = list_shapes(plan, rule)
    texts = [print_kernel(plan.formula, shape, back).text for shape in shapes for back in (False, True)]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda text: compile_kernel(text, find_architecture(given.X.device)), texts))
    runs = [FixedUnits(plan.formula, shape) for shape in shapes]
    results = runs[0].read(given, keep=True)
    ends = [torch.zeros_like(s) for s in given.state]
    forward = [time_graph(lambda run=run: run.read(given, keep=True)) for run in runs]  # type: ignore[misc]
    backward = [time_graph(lambda run=run: run.give_back(given, results, results.Y, ends)) for run in runs]  # type: ignore[misc]
    return {"forward": _choose(shapes, forward), "backward": _choose(shapes, backward)}


def list_shapes(plan: UnitPlan, rule: KernelShape) -> list[KernelShape]:
    """One thread for all tokens first, then what the rule says, and its neighbours."""
    near = [n for n in list_chunks(plan) if rule.chunks / 4 <= n <= rule.chunks * 2]
    return [replace(rule, span=8, chunks=1, loop=True), *(replace(rule, chunks=n) for n in near)]


def _choose(shapes: list[KernelShape], times: list[float]) -> dict[str, Any]:
    best = min(range(len(shapes)), key=times.__getitem__)
    shape = shapes[0] if times[0] <= _MARGIN * times[best] else shapes[best]
    return {"span": shape.span, "chunks": shape.chunks, "loop": shape.loop}


@cache
def find_cuda_units(formula: Formula) -> TunedUnits:
    return TunedUnits(formula)
