"""torch.nn's recurrent modules and the cells with their weights, run side by side with gradients."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import torch
from agreement import apart, assert_agree, executors, fill
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from elman.cells import LSTM, Elman, FormulaCell, ProjectedLSTM, ReLUElman, ResetAfterGRU
from elman.scan import scan
from elman.state import State, map_state

D, H, PROJECTED, STEPS = 3, 5, 2, 6

PAIRS = {
    "RNN tanh": (partial(nn.RNN, D, H), partial(Elman, D, H)),
    "RNN relu": (partial(nn.RNN, D, H, nonlinearity="relu"), partial(ReLUElman, D, H)),
    "LSTM": (partial(nn.LSTM, D, H), partial(LSTM, D, H)),
    "LSTM projected": (
        partial(nn.LSTM, D, H, proj_size=PROJECTED),
        partial(ProjectedLSTM, D, PROJECTED, cell_size=H),
    ),
    "GRU": (partial(nn.GRU, D, H), partial(ResetAfterGRU, D, H)),
}


class Sequences(NamedTuple):
    """What both are run on."""

    xs: Tensor
    lengths: list[int]
    state: State | None
    reverse: bool

    @property
    def ragged(self) -> bool:
        return min(self.lengths) < self.xs.shape[1]

    @property
    def mask(self) -> Tensor | None:
        steps = torch.arange(self.xs.shape[1])
        return steps < torch.tensor(self.lengths)[:, None] if self.ragged else None

    @property
    def inputs(self) -> dict[str, Tensor]:
        """What has a gradient, weights apart."""
        start = self.state or State()
        return {"xs": self.xs, **{f"{n}_0": t for n, t in zip(start.names, start, strict=True)}}


def pair(kind: str, bias: bool, dtype: torch.dtype) -> tuple[nn.RNNBase, FormulaCell]:
    """A module of torch, and the cell with its weights."""
    torch.manual_seed(3)
    module = PAIRS[kind][0](bias=bias, batch_first=True, dtype=dtype)
    return module, cell_from(module, kind)


def cell_from(module: nn.RNNBase, kind: str) -> FormulaCell:
    """torch's gates are in our order: i f g o are i f z o, r z n are r z n."""
    cell = PAIRS[kind][1](bias=module.bias)
    W, U, *rest = (w.detach() for w in module.all_weights[0])
    biases, projection = (rest[:2], rest[2:]) if module.bias else ([], rest)
    b, p = None, []
    if biases and kind == "GRU":
        b, *p = apart(torch.stack(biases), H)
    elif biases:
        b = biases[0] + biases[1]
    fill(cell, W, [U, *projection], b, p)
    return cell


def sequences(cell: FormulaCell, lengths: list[int], reverse: bool) -> Sequences:
    generator = torch.Generator().manual_seed(5)

    def random(like: Tensor) -> Tensor:
        return torch.randn(like.shape, generator=generator, dtype=cell.W.dtype).requires_grad_()

    xs = random(torch.empty(len(lengths), STEPS, D))
    return Sequences(xs, lengths, map_state(random, cell.initial(xs)), reverse)


def agree(module: nn.RNNBase, cell: FormulaCell, given: Sequences) -> None:
    theirs = by_torch(module, given)
    for executor in executors(cell):
        assert_agree(by_elman(cell, given, executor), theirs, executor)


def by_elman(cell: FormulaCell, given: Sequences, executor: str) -> dict[str, Tensor]:
    ys, final = scan(cell, given.xs, given.mask, given.state, reverse=given.reverse, executor=executor)
    outputs = {"ys": ys, **dict(zip(final.names, final, strict=True))}
    return outputs | gradients(outputs, given.inputs | dict(cell.named_parameters()))


def by_torch(module: nn.RNNBase, given: Sequences) -> dict[str, Tensor]:
    """The same by torch, under Elman's names; it reads forwards only, so what it reads is flipped."""
    xs = flipped(given.xs, given.lengths) if given.reverse else given.xs
    state = None if given.state is None else tuple(part[None] for part in given.state)
    if not isinstance(module, nn.LSTM) and state is not None:
        (state,) = state
    if given.ragged:
        packed = pack_padded_sequence(xs, given.lengths, batch_first=True, enforce_sorted=False)
        ys, final = module(packed, state)
        ys, _ = pad_packed_sequence(ys, batch_first=True, total_length=STEPS)
    else:
        ys, final = module(xs, state)
    ys = flipped(ys, given.lengths) if given.reverse else ys
    parts = final if isinstance(final, tuple) else (final,)
    outputs = {"ys": ys, **{name: part[0] for name, part in zip("hc", parts, strict=False)}}
    weights = dict(module.named_parameters())
    return outputs | renamed(gradients(outputs, given.inputs | weights))


def flipped(xs: Tensor, lengths: list[int]) -> Tensor:
    """Each row backwards, its padding where it was."""
    rows = zip(xs, lengths, strict=True)
    return torch.stack([torch.cat((row[:n].flip(0), row[n:])) for row, n in rows])


def gradients(outputs: dict[str, Tensor], inputs: dict[str, Tensor]) -> dict[str, Tensor]:
    """Of one fixed random linear function of the outputs, in all inputs."""
    generator = torch.Generator().manual_seed(11)
    seeds = [torch.randn(y.shape, generator=generator, dtype=y.dtype) for y in outputs.values()]
    found = torch.autograd.grad(list(outputs.values()), list(inputs.values()), seeds)
    return {f"d{name}": g for name, g in zip(inputs, found, strict=True)}


def renamed(theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    """torch's names to ours. A sum's gradient is that of either bias; a GRU's last second one is apart."""
    ours = {"weight_ih_l0": "W", "weight_hh_l0": "U.0", "weight_hr_l0": "U.1", "bias_ih_l0": "b"}
    result = {f"d{ours.get(name[1:], name[1:])}": g for name, g in theirs.items()}
    second = result.pop("dbias_hh_l0", None)
    if second is not None and len(second) == 3 * H:
        result["dp.0"] = second[-H:]
    return result
