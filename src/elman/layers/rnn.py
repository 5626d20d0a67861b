"""Recurrent layers: a cell over sequences, in one direction or two, and layers on layers.

Every layer offers two views: the transducer ``forward`` gives y_{1:n}, the acceptor ``last_output`` gives y_n.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import add, mul
from typing import Any, cast

import torch
from torch import nn

from elman.cells import Cell, Stacked
from elman.cells.stacked import check_stack, find_residuals
from elman.errors import ArgumentError, ModelError, show_value
from elman.scan import execute
from elman.scan.execution import Execution
from elman.scan.executors import require_known
from elman.scan.packed_rows import can_pack, run_packed
from elman.scan.packing import last_position
from elman.scan.table_lookup import TableLookup, find_tensor
from elman.shapes import Bool, Float, Tensor

Merge = Callable[[Tensor, Tensor], Tensor]


class RecurrentLayer(nn.Module, ABC):
    """What every recurrent layer is."""

    input_size: int
    output_size: int

    def forward(
        self,
        xs: Float[Tensor, "B T D"] | TableLookup,
        mask: Bool[Tensor, "B T"] | None = None,
        state: Any = None,
    ) -> tuple[Float[Tensor, "B T H"], Any]:
        """y_{1:n} and s_n (RNN*): the transducer."""
        return self.run(find_tensor(xs), state, Execution.begin(xs, mask))

    @abstractmethod
    def run(self, xs: Tensor, state: Any, execution: Execution) -> tuple[Tensor, Any]:
        """``forward``, for layers that share what is known of a batch."""

    @abstractmethod
    def last_output(
        self,
        xs: Float[Tensor, "B T D"] | TableLookup,
        mask: Bool[Tensor, "B T"] | None = None,
        state: Any = None,
    ) -> Float[Tensor, "B H"]:
        """y_n (RNN): the acceptor, or encoder."""


def concat(f: Tensor, b: Tensor) -> Tensor:
    return torch.cat([f, b], dim=-1)


def mean(f: Tensor, b: Tensor) -> Tensor:
    return (f + b) / 2


MERGES: dict[str, Merge] = {"concat": concat, "sum": add, "mean": mean, "product": mul}
"""How the two directions of a layer are joined, by name."""


class RNN(RecurrentLayer):
    """A cell over sequences; ``reverse`` reads them from the end."""

    def __init__(self, cell: Cell[Any], *, reverse: bool = False, executor: str = "auto") -> None:
        super().__init__()
        require_known(executor)
        if not isinstance(cell, Cell):
            raise ArgumentError(f"cell is {show_value(cell)}; it must be a cell, such as LSTM(3, 4)")
        self.cell, self.reverse, self.executor = cell, reverse, executor
        self.input_size, self.output_size = cell.input_size, cell.output_size

    @property
    def stack(self) -> list[RNN | BiRNN]:
        """A layer for each cell of a stack, the lowest first."""
        cells = self.cell.layers if isinstance(self.cell, Stacked) else [self.cell]
        return [RNN(cell, reverse=self.reverse, executor=self.executor) for cell in cells]

    def run(self, xs: Tensor, state: Any, execution: Execution) -> tuple[Tensor, Any]:
        own = replace(execution, reverse=self.reverse, executor=self.executor)
        return execute(self.cell, xs, state, own)

    def last_output(
        self,
        xs: Float[Tensor, "B T D"] | TableLookup,
        mask: Bool[Tensor, "B T"] | None = None,
        state: Any = None,
    ) -> Float[Tensor, "B H"]:
        return self.select_end(self(xs, mask, state)[0], mask)

    def select_end(self, ys: Tensor, mask: Tensor | None) -> Tensor:
        """Of its outputs the one that was computed last."""
        return select_last(ys, mask, reverse=self.reverse)


class BiRNN(RecurrentLayer):
    """y_i from x_{1:i} and from x_{n:i}, merged at each step; accepting merges y_n with the backward y_1."""

    def __init__(
        self, forward: Cell[Any], backward: Cell[Any], *, merge: Merge = concat, executor: str = "auto"
    ) -> None:
        super().__init__()
        if forward.input_size != backward.input_size:
            raise ModelError(
                f"both directions read the same input, but one cell reads {forward.input_size} "
                f"features and the other {backward.input_size}"
            )
        ahead, back = forward.output_size, backward.output_size
        if merge is not concat and ahead != back:
            raise ModelError(f"outputs of {ahead} and {back} features can only be concatenated")
        self.forward_rnn = RNN(forward, executor=executor)
        self.backward_rnn = RNN(backward, reverse=True, executor=executor)
        self.merge = merge
        self.input_size = forward.input_size
        self.output_size = len(merge(torch.zeros(ahead), torch.zeros(back)))

    def run(self, xs: Tensor, state: Any, execution: Execution) -> tuple[Tensor, tuple[Any, Any]]:
        first, second = state or (None, None)
        ahead, s = self.forward_rnn.run(xs, first, execution)
        back, r = self.backward_rnn.run(xs, second, execution)
        return self.merge(ahead, back), (s, r)

    def select_end(self, ys: Tensor, mask: Tensor | None) -> Tensor:
        """Of concatenated outputs those that each direction computed last."""
        if self.merge is not concat:
            raise ModelError("only of concatenated directions can each have its own end")
        ahead, back = torch.split(ys, [self.forward_rnn.output_size, self.backward_rnn.output_size], -1)
        return concat(select_last(ahead, mask), select_last(back, mask, reverse=True))

    def last_output(
        self,
        xs: Float[Tensor, "B T D"] | TableLookup,
        mask: Bool[Tensor, "B T"] | None = None,
        state: Any = None,
    ) -> Float[Tensor, "B H"]:
        first, second = state or (None, None)
        return self.merge(
            self.forward_rnn.last_output(xs, mask, first), self.backward_rnn.last_output(xs, mask, second)
        )


class StackedRNN(RecurrentLayer):
    """Layers on layers, each reading the outputs of the one below: how bidirectional layers are stacked.

    Layers of one direction are an `RNN` of a `Stacked` cell. With ``residual`` a layer above the first adds to
    what it reads, where it writes as many features.
    """

    def __init__(self, layers: Sequence[RNN | BiRNN], *, residual: bool = False) -> None:
        super().__init__()
        check_stack("layer", layers)
        self.layers = nn.ModuleList(layers)
        self.input_size, self.output_size = layers[0].input_size, layers[-1].output_size
        found = find_residuals(layers) if residual else []
        self.adds = [k in found for k in range(len(layers))]

    @property
    def stack(self) -> list[RNN | BiRNN]:
        return cast("list[RNN | BiRNN]", list(self.layers))

    def run(self, xs: Tensor, state: Any, execution: Execution) -> tuple[Tensor, tuple[Any, ...]]:
        """The outputs of as many layers as there are states to begin with; of all where none is given."""
        if len(self.layers) > 1 and can_pack(xs, execution):
            return run_packed(lambda rows, packed: self.run(rows, state, packed), xs, execution)
        begins = (None,) * len(self.layers) if state is None else state
        final = []
        for layer, begin, adds in zip(self.stack, begins, self.adds, strict=False):
            ys, end = layer.run(xs, begin, execution)
            xs = xs + ys if adds else ys
            final.append(end)
        return xs, tuple(final)

    def last_output(
        self,
        xs: Float[Tensor, "B T D"] | TableLookup,
        mask: Bool[Tensor, "B T"] | None = None,
        state: Any = None,
    ) -> Float[Tensor, "B H"]:
        *begins, begin = state or (None,) * len(self.layers)
        below, _ = self.run(find_tensor(xs), tuple(begins), Execution.begin(xs, mask))
        top = self.stack[-1]
        end = top.last_output(below, mask, begin)
        return end + top.select_end(below, mask) if self.adds[-1] else end


def select_last(
    ys: Float[Tensor, "B T H"], mask: Bool[Tensor, "B T"] | None, *, reverse: bool = False
) -> Float[Tensor, "B H"]:
    """The output at the step that was read last: y_n, or y_1 in reverse; zero for an empty sequence."""
    if ys.shape[1] == 0:
        return ys.new_zeros(ys.shape[0], ys.shape[2])
    if mask is None:
        return ys[:, 0 if reverse else -1]
    place = last_position(mask, reverse=reverse)
    return ys[torch.arange(len(ys), device=ys.device), place] * mask.any(1)[:, None]
