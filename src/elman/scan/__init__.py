"""scan runs a cell over time: y_{1:n} and s_n from x_{1:n} and s_0.

Executors are ways to compute the same thing:

- ``torch``: PyTorch's own kernels (ATen, oneDNN, cuDNN), for the formulas they compute exactly;
- ``derived``: any formula, in plain torch, with the derivative that was derived from it;
- ``loop``: one step after the other, for any cell: the reference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch

from elman.cells import Cell
from elman.errors import ModelError
from elman.scan import derived, kernels, loop
from elman.scan.packing import last_place
from elman.shapes import Bool, Float, Tensor
from elman.state import S, leaves

EXECUTORS: dict[str, ModuleType] = {"torch": kernels, "derived": derived, "loop": loop}

__all__ = ["EXECUTORS", "check", "scan"]


def scan(
    cell: Cell[S],
    xs: Float[Tensor, "B T D"],
    mask: Bool[Tensor, "B T"] | None = None,
    state: S | None = None,
    *,
    reverse: bool = False,
    executor: str = "auto",
) -> tuple[Float[Tensor, "B T H"], S]:
    """Run ``cell`` over ``xs``; where ``mask`` is false the state stays and the output is zero.

    ``reverse`` reads from the last token to the first; outputs stay at the positions of their inputs.
    ``executor="auto"`` takes the fastest that computes exactly this cell.
    """
    if executor not in ("auto", *EXECUTORS):
        raise ModelError(
            f"unknown executor {executor!r}; it may be 'auto', {', '.join(map(repr, EXECUTORS))}"
        )
    cell = cell.draw(xs)
    start = cell.initial(xs) if state is None else state
    check(cell, xs, mask, start)
    if mask is not None:
        # Padding may hold anything, NaN too: zero times its gradient must be zero.
        xs = xs.masked_fill(~mask[..., None], 0)
    return _Run(mask, reverse, executor)(cell, xs, start)


@dataclass(frozen=True)
class _Run:
    """One way of running; a compound cell runs its parts by it."""

    mask: Tensor | None
    reverse: bool
    executor: str

    def __call__(self, cell: Cell[S], xs: Tensor, state: S) -> tuple[Tensor, S]:
        if self.executor != "loop":
            swept = cell.sweep(xs, state, self)
            if swept is not None:
                ys, state = swept
                return ys if self.mask is None else ys * self.mask[..., None], state
        run = self._choose(cell)
        return run(cell, xs, self.mask, state, self.reverse)

    def _choose(self, cell: Cell[Any]) -> Callable[..., tuple[Tensor, Any]]:
        if self.executor != "auto":
            reason = EXECUTORS[self.executor].refusal(cell)
            if reason is not None:
                raise ModelError(f"the {self.executor} executor cannot run this cell: {reason}")
            return EXECUTORS[self.executor].run  # type: ignore[no-any-return]
        if kernels.refusal(cell) is None and kernels.fastest(cell, self.mask):
            return kernels.run
        return derived.run if derived.refusal(cell) is None else loop.run

    def last(self, ys: Tensor, before: Tensor) -> Tensor:
        if ys.shape[1] == 0:
            return before
        if self.mask is None:
            return ys[:, 0 if self.reverse else -1]
        place = last_place(self.mask, reverse=self.reverse)
        end = ys[torch.arange(len(ys), device=ys.device), place]
        return torch.where(self.mask.any(1)[:, None], end, before)


def check(cell: Cell[Any], xs: Tensor, mask: Tensor | None, state: Any) -> None:
    """One sentence for each way of running a cell over what it cannot read."""
    dtype = next((p.dtype for p in cell.parameters()), xs.dtype)
    if xs.dtype != dtype and not torch.is_autocast_enabled(xs.device.type):
        raise ModelError(f"xs is {xs.dtype}, but the cell computes in {dtype}")
    if xs.dim() != 3:
        raise ModelError(f"xs must be (batch, time, features), got {tuple(xs.shape)}")
    if xs.shape[2] != cell.input_size:
        raise ModelError(f"the cell reads {cell.input_size} features, xs has {xs.shape[2]}")
    if mask is not None and mask.dtype != torch.bool:
        raise ModelError(f"mask must be bool, true on real tokens, got {mask.dtype}")
    if mask is not None and mask.shape != xs.shape[:2]:
        raise ModelError(f"mask must be {tuple(xs.shape[:2])} like xs, got {tuple(mask.shape)}")
    expected = [(path, tuple(t.shape)) for path, t in leaves(cell.initial(xs))]
    given = [(path, tuple(t.shape)) for path, t in leaves(state)]
    if given != expected:
        raise ModelError(f"the initial state must be {_parts(expected)}, got {_parts(given)}")


def _parts(shapes: list[tuple[str, tuple[int, ...]]]) -> str:
    return ", ".join(f"{path or 'state'} {shape}" for path, shape in shapes)
