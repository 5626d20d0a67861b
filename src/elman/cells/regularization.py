"""Regularised cells: dropout with one mask per sequence, on outputs or on recurrent weights, and zoneout.

Masks that last a sequence are drawn by ``sample_masks``, which gives a cell without randomness; ``scan`` calls
it. In evaluation (``eval``) all of these are the cell they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import torch

from elman.cells.cell import Cell, PartScanner, S
from elman.cells.formulaic import Formulaic, GivenWeights, WrappedCell
from elman.errors import ModelError
from elman.formula import Formula, Gates, Matrices, State
from elman.kernels.dropout import draw_mask, dropout
from elman.shapes import Tensor


def _probability(p: float) -> float:
    if not 0 <= p < 1:
        raise ModelError(f"a dropout probability lies in [0, 1), got {p}")
    return p


def require_formula(cell: Cell[Any]) -> Formulaic:
    """The cell, which must have a formula that noise can enter."""
    if not isinstance(cell, Formulaic):
        raise ModelError(f"{type(cell).__name__} has no formula of its own; put the noise around its parts")
    return cell


class OutputWrapper(Cell[S]):
    """A cell that steps as the one it holds; what it writes is for a subclass to say."""

    def __init__(self, cell: Cell[S]) -> None:
        super().__init__()
        self.cell = cell
        self.input_size, self.output_size = cell.input_size, cell.output_size

    def initial(self, like: Tensor) -> S:
        return self.cell.initial(like)

    def project(self, x: Tensor) -> Any:
        return self.cell.project(x)

    def step(self, state: S, x: Any) -> S:
        return self.cell.step(state, x)


class Dropout(OutputWrapper[S]):
    """Drops features of the output, the same ones at every step (Gal & Ghahramani 2016)."""

    def __init__(self, cell: Cell[S], p: float) -> None:
        super().__init__(cell)
        self.p = _probability(p)

    def output(self, state: S) -> Tensor:
        if self.training and self.p:
            raise ModelError("one mask lasts a sequence: step over cell.sample_masks(xs), or cell.eval()")
        return self.cell.output(state)

    def sample_masks(self, like: Tensor) -> Cell[S]:
        cell = self.cell.sample_masks(like)
        if not self.training or not self.p:
            return cell
        return MaskedOutput(cell, draw_mask(like, like.shape[0], self.output_size, p=self.p))


class MaskedOutput(OutputWrapper[S]):
    """A cell whose outputs are multiplied with a given mask (B, H)."""

    def __init__(self, cell: Cell[S], mask: Tensor) -> None:
        super().__init__(cell)
        self.mask = mask

    def freeze(self, dtype: torch.dtype) -> Cell[S]:
        return MaskedOutput(self.cell.freeze(dtype), self.mask)

    def output(self, state: S) -> Tensor:
        return self.cell.output(state) * self.mask

    def scan_parts(self, xs: Tensor, state: S, run: PartScanner) -> tuple[Tensor, S]:
        ys, state = run(self.cell, xs, state)
        return ys * run.spread(self.mask), state


class WeightDrop(WrappedCell):
    """Drops entries of the recurrent matrices, the same ones for a whole batch of sequences (Wan et al. 2013,
    Merity et al. 2018)."""

    def __init__(self, cell: Formulaic, p: float) -> None:
        super().__init__(cell, require_formula(cell).formula)
        self.p = _probability(p)

    def matrices(self) -> Sequence[Tensor]:
        if self.training and self.p:
            raise ModelError("one mask lasts a sequence: step over cell.sample_masks(xs), or cell.eval()")
        return self.cell.matrices()

    def sample_masks(self, like: Tensor) -> Formulaic:
        cell = require_formula(self.cell.sample_masks(like))
        if not self.training or not self.p:
            return cell
        return GivenWeights(cell, [dropout(U, self.p) for U in cell.matrices()])


class Zoneout(WrappedCell):
    """Each unit of each state keeps its old value with probability p at each step (Krueger et al. 2017).

    s' = m ⊙ s + (1 - m) ⊙ R(s, x), m drawn anew at each step; without training m is p itself.
    ``p`` is one probability, or one for each state: ``{"h": 0.05, "c": 0.5}``.
    """

    def __init__(self, cell: Formulaic, p: float | Mapping[str, float]) -> None:
        states = require_formula(cell).formula.states
        self_p = dict.fromkeys(states, p) if isinstance(p, float | int) else dict(p)
        if set(self_p) != set(states):
            raise ModelError(f"zoneout needs a probability for each of {', '.join(states)}")
        super().__init__(cell, zoneout_formula(cell.formula))
        self.p = {name: _probability(self_p[name]) for name in states}

    def project(self, x: Tensor) -> tuple[Tensor, ...]:
        return *self.cell.project(x), *self._masks(x)

    def step_inputs(self, gates: Tensor) -> tuple[Tensor, ...]:
        return *self.cell.step_inputs(gates), *self._masks(gates)

    def _masks(self, like: Tensor) -> list[Tensor]:
        """One for each state and step of ``like``, its batch and time axes first."""
        shares = [like.new_full((*like.shape[:-1], self.widths[name]), p) for name, p in self.p.items()]
        return [torch.bernoulli(share) if self.training else share for share in shares]

    def sample_masks(self, like: Tensor) -> Zoneout:
        cell = require_formula(self.cell.sample_masks(like))
        return self if cell is self.cell else Zoneout(cell, self.p).train(self.training)


@cache
def zoneout_formula(inner: Formula) -> Formula:
    """The formula with a mask for each state that keeps the old value."""
    if inner.masks:
        raise ModelError(f"the formula {inner.name!r} has masks of its own already")

    def keep(s: State, after: State, m: Gates) -> State:
        each = {n: (getattr(m, n), getattr(s, n), getattr(after, n)) for n in s.names}
        return State(**{n: mask * old + (1 - mask) * new for n, (mask, old, new) in each.items()})

    def plain(x: Gates, U: Matrices, s: State, m: Gates) -> State:
        return keep(s, inner.function(x, U, s), m)

    def with_units(x: Gates, U: Matrices, s: State, p: Gates, m: Gates) -> State:
        return keep(s, inner.function(x, U, s, p), m)

    function = with_units if inner.parameters else plain
    function.__name__ = f"zoneout_{inner.name}"
    return replace(inner, function=function, masks=inner.states)


def with_zoneout(cell: Callable[[int, int], Cell[Any]], p: float) -> Callable[[int, int], Cell[Any]]:
    """``cell(input_size, hidden_size)`` with zoneout of every state; as it is where ``p`` is 0."""
    return cell if not p else lambda size, hidden: Zoneout(require_formula(cell(size, hidden)), p)
