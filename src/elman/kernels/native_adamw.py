"""AdamW in one call for all weights of a CPU; of tables, gradients of the rows that were read are enough.

A table of thousands of words is read at a few hundred rows in an update. A dense gradient of it is a table of
zeros that is filled, added, measured, clipped and read again: the memory of all weights, several times over.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from math import sqrt
from typing import Any

import torch
from torch import Tensor, nn

from elman.native.host_threads import find_parallel
from elman.native.library import load_file, why_not_loaded

_LARGE = 2**17  # numbers of a table, of which a dense gradient would take longer than to find its rows
_ALONE = 2**18  # numbers that one thread changes sooner than a second is woken


class _Weights(ctypes.Structure):
    """As in native/adamw.cpp."""

    _fields_ = (
        *((name, ctypes.c_long) for name in ("rows", "width", "given")),
        *((name, ctypes.c_void_p) for name in ("p", "m", "v", "g", "at")),
        *((name, ctypes.c_float) for name in ("decay", "rate", "root")),
    )


class _Update(ctypes.Structure):
    """As in native/adamw.cpp."""

    _fields_ = (
        *((name, ctypes.c_int) for name in ("count", "pieces")),
        *((name, ctypes.c_float) for name in ("beta1", "beta2", "epsilon")),
        ("weights", ctypes.c_void_p),
    )


class NativeAdamW(torch.optim.AdamW):
    """`torch.optim.AdamW` with its state and results; gradients may be sparse, and count as zero elsewhere."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        # `load_state_dict` comes here, too: there are other moments now.
        self._plans: dict[int, _GroupPlan] = {}

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for number, group in enumerate(self.param_groups):
            given = [p for p in group["params"] if p.grad is not None]
            if given:
                self._find_plan(number, given).change(group)
        return loss

    def zero_grad(self, set_to_none: bool = True) -> None:
        if not set_to_none:
            return super().zero_grad(set_to_none=False)
        for group in self.param_groups:  # torch's own way takes longer than a layer
            for p in group["params"]:
                p.grad = None
        return None

    def _find_plan(self, number: int, given: list[Tensor]) -> _GroupPlan:
        plans = self.__dict__.setdefault("_plans", {})
        if number not in plans or not plans[number].fits(given):
            plans[number] = _GroupPlan(given, [self._find_state(p) for p in given])
        plan: _GroupPlan = plans[number]
        return plan

    def _find_state(self, p: Tensor) -> dict[str, Tensor]:
        state: dict[str, Tensor] = self.state[p]
        if not state:
            state["step"] = torch.zeros((), dtype=torch.float32)
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(p), torch.zeros_like(p)
        return state


class _GroupPlan:
    """Where weights and their moments lie: between updates only their gradients and the step size change."""

    def __init__(self, weights: list[Tensor], states: list[dict[str, Tensor]]) -> None:
        self.weights, self.at = weights, [p.data_ptr() for p in weights]
        self.size = sum(p.numel() for p in weights)
        self.moments = [(s["exp_avg"], s["exp_avg_sq"]) for s in states]  # kept alive
        # Counts of updates, which differ where a weight once had no gradient: side by side one sum moves them.
        self.counts = torch.stack([s["step"] for s in states])
        for state, count in zip(states, self.counts.unbind(), strict=True):
            state["step"] = count
        each = [_place(p, *pair) for p, pair in zip(weights, self.moments, strict=True)]
        self.array = _array_type(len(each))(*each)
        self.entries = [*self.array]

    def fits(self, weights: list[Tensor]) -> bool:
        """Is it the plan of these weights, where they lie now?"""
        if len(weights) != len(self.weights):
            return False
        triples = zip(weights, self.weights, self.at, strict=True)
        return all(p is own and p.data_ptr() == at for p, own, at in triples)

    def change(self, group: dict[str, Any]) -> None:
        """Do an update."""
        self.counts += 1
        counts: list[float] = self.counts.tolist()
        (beta1, beta2), lr = group["betas"], group["lr"]
        decay = 1 - lr * group["weight_decay"]
        rates = {t: (lr / (1 - beta1**t), 1 / sqrt(1 - beta2**t)) for t in {*counts}}
        kept: list[Tensor] = []  # alive until the call is over
        for p, t, entry in zip(self.weights, counts, self.entries, strict=True):
            g = p.grad
            assert g is not None
            entry.given, entry.at = -1, None
            if g.is_sparse:
                g = g.coalesce()
                rows, g = g._indices()[0], g._values()
                entry.given, entry.at = len(rows), rows.data_ptr()
                kept.append(rows)
            g = g.contiguous()
            kept.append(g)
            entry.g, entry.decay, (entry.rate, entry.root) = g.data_ptr(), decay, rates[t]
        pieces = torch.get_num_threads() if self.size > _ALONE else 1
        numbers = (beta1, beta2, group["eps"])
        job = _Update(len(counts), pieces, *numbers, ctypes.addressof(self.array))
        _find_library().elman_update(ctypes.byref(job), ctypes.c_void_p(find_parallel()))


def _place(p: Tensor, mean: Tensor, square: Tensor) -> _Weights:
    """Where a weight and its moments lie, without a gradient."""
    rows = p.shape[0] if p.dim() else 1
    width = p.numel() // rows if rows else 0
    return _Weights(rows, width, -1, p.data_ptr(), mean.data_ptr(), square.data_ptr())


def fits_native(parameters: list[nn.Parameter]) -> bool:
    """Are they plain numbers of a CPU, and is there a library for them?"""
    plain = all(p.is_cpu and p.dtype == torch.float32 and p.is_contiguous() for p in parameters)
    return plain and unsupported_reason() is None


def find_tables(net: nn.Module, optimizer: torch.optim.Optimizer) -> list[nn.Embedding]:
    """The embeddings whose gradients may be sparse; none where the optimizer wants them dense."""
    if not isinstance(optimizer, NativeAdamW):
        return []
    every = (m for m in net.modules() if isinstance(m, nn.Embedding))
    return [m for m in every if m.weight.requires_grad and m.weight.numel() >= _LARGE]


@contextmanager
def sparse_gradients(tables: list[nn.Embedding]) -> Iterator[None]:
    """Within it these embeddings have gradients of the rows that were read."""
    for table in tables:
        table.sparse = True
    try:
        yield
    finally:
        for table in tables:
            table.sparse = False


@cache
def _array_type(count: int) -> type[ctypes.Array[_Weights]]:
    """To make a type takes as long as to describe the weights."""
    return _Weights * count


def unsupported_reason() -> str | None:
    """Why torch changes the weights; None where the library does."""
    return why_not_loaded("adamw.cpp")


@cache
def _find_library() -> ctypes.CDLL:
    return load_file("adamw.cpp")
