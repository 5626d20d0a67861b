"""Cells that are linear in the state by a parallel scan in plain torch: any precision, any device.

h_t = a_t ⊙ h_{t-1} + b_t is cut into pieces of equal length. All pieces are computed at the same time, each as
if it began with zero; then what each piece begins with is known from the piece before, and is added.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch

from elman.cells import Formulaic
from elman.formula import Node
from elman.formula.operation import OPS
from elman.formula.structure import find_structure
from elman.formula.symbols import symbol
from elman.formula.traversal import order_values
from elman.scan.execution import Execution
from elman.shapes import Float, Tensor
from elman.state import State


def run_scans(
    cell: Formulaic, xs: Float[Tensor, "B T D"], state: State, execution: Execution
) -> tuple[Tensor, State]:
    """y_{1:n} and s_n, level by level."""
    formula, mask = cell.formula, execution.mask
    if not execution.places:
        return xs.new_zeros(*xs.shape[:2], cell.output_size), state
    dtype = execution.autocast or cell.affine()[0].dtype
    xs = xs.to(dtype) if mask is None else xs.to(dtype).masked_fill(~mask[..., None], 0)
    gates, *masks = (t.to(dtype) for t in cell.project(xs))
    parts = [*torch.split(gates, [cell.widths[g] for g in formula.gates], -1), *masks]
    there = None if mask is None else mask[..., None]
    if execution.reverse:
        parts, there = [t.flip(1) for t in parts], None if there is None else there.flip(1)
    kinds = [*(("x", g) for g in formula.gates), *(("m", m) for m in formula.masks)]
    known = {symbol(*names): t for names, t in zip(kinds, parts, strict=True)}
    known |= {
        symbol("p", n): p.to(dtype) for n, p in zip(formula.parameters, cell.unit_parameters(), strict=True)
    }
    new: dict[str, Tensor] = {}
    for level in find_structure(formula).levels:
        for one in level:
            first = getattr(state, one.name).to(dtype)
            a, b = (_compute(node, known).expand_as(parts[0]) for node in (one.factor, one.term))
            if there is not None:
                a, b = a.where(there, a.new_ones(())), b.where(there, b.new_zeros(()))
            new[one.name] = scan_linear(a, b, first)
        for one in level:
            first = getattr(state, one.name).to(dtype)
            known[symbol("s", one.name)] = torch.cat((first[:, None], new[one.name][:, :-1]), 1)
    ys = new[formula.output] if there is None else new[formula.output] * there
    end = State(**{name: new[name][:, -1] for name in formula.states})
    return ys.flip(1) if execution.reverse else ys, end


def _compute(a: Node, inputs: Mapping[Node, Tensor]) -> Tensor:
    """What a value is worth at all steps at once."""
    known = dict(inputs)
    like = next(iter(inputs.values()))
    for b in order_values([a], inputs):
        if b.op == "constant":
            known[b] = like.new_tensor(b.args[0])
        else:
            known[b] = OPS[b.op].tensor(*(known[o] for o in b.operands))
    return known[a]


def scan_linear(
    a: Float[Tensor, "B T H"], b: Float[Tensor, "B T H"], first: Float[Tensor, "B H"]
) -> Float[Tensor, "B T H"]:
    """h_t = a_t ⊙ h_{t-1} + b_t for all t; its gradients can be differentiated again."""
    return _LinearScan.apply(a, b, first)  # type: ignore[no-any-return, no-untyped-call]


class _LinearScan(torch.autograd.Function):
    """The gradient g_t of all that h_t reaches is a scan backwards in time: g_t = d_t + a_{t+1} ⊙ g_{t+1}."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, first: Tensor) -> Tensor:
        h = _scan_pieces(a, b, first)
        ctx.save_for_backward(a, first, h)
        return h

    @staticmethod
    def backward(ctx: Any, d: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        a, first, h = ctx.saved_tensors
        later = torch.cat((a[:, 1:], torch.zeros_like(a[:, :1])), 1)
        g = scan_linear(later.flip(1), d.flip(1), torch.zeros_like(first)).flip(1)
        before = torch.cat((first[:, None], h[:, :-1]), 1)
        return g * before, g, g[:, 0] * a[:, 0]


def _scan_pieces(a: Tensor, b: Tensor, first: Tensor) -> Tensor:
    rows, steps, width = a.shape
    length = max(1, math.isqrt(steps))
    count = -(-steps // length)
    rest = count * length - steps
    if rest:
        a, b = (torch.nn.functional.pad(t, (0, 0, 0, rest)) for t in (a, b))
    # (B, pieces, length, H): what each piece makes of zero, and of what it begins with.
    a, b = (t.reshape(rows, count, length, width) for t in (a, b))
    made, share = torch.empty_like(b), torch.empty_like(a)
    made[:, :, 0], share[:, :, 0] = b[:, :, 0], a[:, :, 0]
    for t in range(1, length):
        torch.addcmul(b[:, :, t], a[:, :, t], made[:, :, t - 1], out=made[:, :, t])
        torch.mul(a[:, :, t], share[:, :, t - 1], out=share[:, :, t])
    begin = torch.empty_like(made[:, :, 0])
    begin[:, 0] = first
    for piece in range(1, count):
        last = made[:, piece - 1, -1], share[:, piece - 1, -1], begin[:, piece - 1]
        torch.addcmul(*last, out=begin[:, piece])
    return made.addcmul_(share, begin[:, :, None]).view(rows, -1, width)[:, :steps]
