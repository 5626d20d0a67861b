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

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            given = [p for p in group["params"] if p.grad is not None]
            if given:
                self._change(given, group)
        return loss

    def _change(self, given: list[Tensor], group: dict[str, Any]) -> None:
        kept: list[Tensor] = []  # alive until the call is over
        each = [self._describe(p, t, group, kept) for p, t in zip(given, self._count(given), strict=True)]
        pieces = torch.get_num_threads() if sum(p.numel() for p in given) > _ALONE else 1
        weights = _array_type(len(each))(*each)
        numbers = (*group["betas"], group["eps"])
        job = _Update(len(each), pieces, *numbers, ctypes.cast(weights, ctypes.c_void_p))
        _find_library().elman_update(ctypes.byref(job), ctypes.c_void_p(find_parallel()))

    def _count(self, given: list[Tensor]) -> list[float]:
        """Which update of each weight this is."""
        for p in given:
            if not (state := self.state[p]):
                state["step"] = torch.zeros((), dtype=torch.float32)
                state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(p), torch.zeros_like(p)
        steps = [self.state[p]["step"] for p in given]
        torch._foreach_add_(steps, 1)
        counts: list[float] = torch.stack(steps).tolist()
        return counts

    def _describe(self, p: Tensor, t: float, group: dict[str, Any], kept: list[Tensor]) -> _Weights:
        state, rows = self.state[p], p.shape[0] if p.dim() else 1
        lr, at, g = group["lr"], None, p.grad
        assert g is not None
        if g.is_sparse:
            g = g.coalesce()
            at, g = g._indices()[0], g._values()
            kept.append(at)
        g = g.contiguous()
        kept.append(g)
        beta1, beta2 = group["betas"]
        shares = (1 - lr * group["weight_decay"], lr / (1 - beta1**t), 1 / sqrt(1 - beta2**t))
        moments = (state[name].data_ptr() for name in ("exp_avg", "exp_avg_sq"))
        pointers = (p.data_ptr(), *moments, g.data_ptr(), None if at is None else at.data_ptr())
        given = -1 if at is None else len(at)
        return _Weights(rows, p.numel() // rows if rows else 0, given, *pointers, *shares)


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
