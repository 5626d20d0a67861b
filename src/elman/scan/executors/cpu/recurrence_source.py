"""A formula's C++, printed and built: the time loop of native/recurrence.hpp with its two kinds of step."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import cache, cached_property
from typing import Any

from elman.formula import Formula
from elman.native.library import load_library
from elman.scan.executors.cpu.backward_step import BackwardStep
from elman.scan.executors.cpu.forward_step import ForwardStep
from elman.scan.executors.cpu.lane_source import add_up
from elman.scan.executors.cpu.step_printer import StepPrinter
from elman.scan.executors.cpu.value_plan import ValuePlan


class NativeSource:
    """The C++ of a formula whose names have these classes of width, and what the program needs to call it."""

    def __init__(self, formula: Formula, classes: Mapping[str, int]) -> None:
        self.plan = ValuePlan(formula, classes)
        self.forward, self.backward = ForwardStep(self.plan), BackwardStep(self.plan)
        steps: tuple[StepPrinter, ...] = (self.forward, self.backward)
        heads = ("template <bool KEEP>\nstatic void step_forward", "static void step_backward")
        lines = ['#include "recurrence.hpp"', ""]
        for head, step in zip(heads, steps, strict=True):
            lines += [f"{head}(const Job& job, const Span& at, float* scratch) {{", *step.lines(), "}"]
        sizes = [size for step in steps for size in step.scratch().values()]
        lines += [
            "static long count_scratch(const int32_t* W, long n) {",
            f"  return n * ({add_up(sizes)});",
            "}",
        ]
        self.text = "\n".join([*lines, ""])

    @cached_property
    def library(self) -> ctypes.CDLL:
        library = load_library(self.text)
        library.elman_count_packed.restype = ctypes.c_long
        kinds: dict[str, Any] = {"i": ctypes.c_int, "n": ctypes.c_long, "p": ctypes.c_void_p}
        library.elman_pack.argtypes = [kinds[letter] for letter in "iiiipnnppi"]
        library.elman_forward.argtypes = library.elman_backward.argtypes = [ctypes.c_void_p]
        library.elman_pack.restype = library.elman_forward.restype = library.elman_backward.restype = None
        return library


@cache
def print_source(formula: Formula, classes: tuple[tuple[str, int], ...]) -> NativeSource:
    return NativeSource(formula, dict(classes))
