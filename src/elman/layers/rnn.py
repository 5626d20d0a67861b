"""Recurrent layers: a cell over sequences, in one direction or two, and layers on layers.

Every layer offers two views: the transducer ``forward`` gives y_{1:n}, the acceptor ``accept`` gives y_n.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Protocol, cast, runtime_checkable

import torch
from torch import nn

from elman.cells import Cell
from elman.errors import ModelError
from elman.layers import wavefront
from elman.scan import scan
from elman.scan.packing import last_place
from elman.shapes import Bool, Float, Tensor

Merge = Callable[[Tensor, Tensor], Tensor]


@runtime_checkable
class Recurrent(Protocol):
    """What every recurrent layer is."""

    input_size: int
    output_size: int

    def __call__(
        self, xs: Tensor, mask: Tensor | None = None, state: Any = None
    ) -> tuple[Tensor, Any]:
        """y_{1:n} and s_n (RNN*): the transducer."""

    def accept(self, xs: Tensor, mask: Tensor | None = None, state: Any = None) -> Tensor:
        """y_n (RNN): the acceptor, or encoder."""


def concat(f: Tensor, b: Tensor) -> Tensor:
    return torch.cat([f, b], dim=-1)


def add(f: Tensor, b: Tensor) -> Tensor:
    return f + b


def mean(f: Tensor, b: Tensor) -> Tensor:
    return (f + b) / 2


def product(f: Tensor, b: Tensor) -> Tensor:
    return f * b


MERGES: dict[str, Merge] = {"concat": concat, "sum": add, "mean": mean, "product": product}


class RNN(nn.Module):
    """A cell over sequences; ``reverse`` reads them from the end."""

    def __init__(self, cell: Cell[Any], *, reverse: bool = False, executor: str = "auto") -> None:
        super().__init__()
        self.cell, self.reverse, self.executor = cell, reverse, executor
        self.input_size, self.output_size = cell.input_size, cell.output_size

    @property
    def plain(self) -> bool:
        """Does it read from the first token on, as fast as it can?"""
        return not self.reverse and self.executor == "auto"

    def forward(
        self,
        xs: Float[Tensor, "B T D"],
        mask: Bool[Tensor, "B T"] | None = None,
        state: Any = None,
    ) -> tuple[Float[Tensor, "B T H"], Any]:
        return scan(self.cell, xs, mask, state, reverse=self.reverse, executor=self.executor)

    def accept(
        self,
        xs: Float[Tensor, "B T D"],
        mask: Bool[Tensor, "B T"] | None = None,
        state: Any = None,
    ) -> Float[Tensor, "B H"]:
        ys, _ = self(xs, mask, state)
        return last(ys, mask, reverse=self.reverse)


class BiRNN(nn.Module):
    """y_i from x_{1:i} and from x_{n:i}, merged at each step; accepting merges y_n with the backward y_1."""

    def __init__(
        self,
        forward: Cell[Any],
        backward: Cell[Any],
        *,
        merge: Merge = concat,
        executor: str = "auto",
    ) -> None:
        super().__init__()
        if forward.input_size != backward.input_size:
            raise ModelError(
                f"both directions read the same input, but one cell reads {forward.input_size} "
                f"features and the other {backward.input_size}"
            )
        if merge is not concat and forward.output_size != backward.output_size:
            raise ModelError(
                f"outputs of {forward.output_size} and {backward.output_size} features "
                "can only be concatenated"
            )
        self.ahead = RNN(forward, executor=executor)
        self.back = RNN(backward, reverse=True, executor=executor)
        self.merge = merge
        both = torch.zeros(forward.output_size), torch.zeros(backward.output_size)
        self.input_size, self.output_size = forward.input_size, len(merge(*both))

    def forward(
        self,
        xs: Float[Tensor, "B T D"],
        mask: Bool[Tensor, "B T"] | None = None,
        state: tuple[Any, Any] | None = None,
    ) -> tuple[Float[Tensor, "B T H"], tuple[Any, Any]]:
        first, second = state or (None, None)
        ahead, s = self.ahead(xs, mask, first)
        back, r = self.back(xs, mask, second)
        return self.merge(ahead, back), (s, r)

    def accept(
        self,
        xs: Float[Tensor, "B T D"],
        mask: Bool[Tensor, "B T"] | None = None,
        state: tuple[Any, Any] | None = None,
    ) -> Float[Tensor, "B H"]:
        first, second = state or (None, None)
        return self.merge(self.ahead.accept(xs, mask, first), self.back.accept(xs, mask, second))


class Layers(nn.Module):
    """Layers on layers, each reading the outputs of the one below: how bidirectional layers are stacked."""

    def __init__(self, layers: Sequence[RNN | BiRNN]) -> None:
        super().__init__()
        if not layers:
            raise ModelError("at least one layer is needed")
        for below, above in pairwise(layers):
            if above.input_size != below.output_size:
                raise ModelError(
                    f"a layer that reads {above.input_size} features cannot stand on one "
                    f"that writes {below.output_size}"
                )
        self.layers = nn.ModuleList(layers)
        self.input_size, self.output_size = layers[0].input_size, layers[-1].output_size

    @property
    def stack(self) -> list[RNN | BiRNN]:
        return cast("list[RNN | BiRNN]", list(self.layers))

    def forward(
        self,
        xs: Float[Tensor, "B T D"],
        mask: Bool[Tensor, "B T"] | None = None,
        state: tuple[Any, ...] | None = None,
    ) -> tuple[Float[Tensor, "B T H"], tuple[Any, ...]]:
        begins = state or (None,) * len(self.layers)
        ahead = [layer.cell for layer in self.stack if isinstance(layer, RNN) and layer.plain]
        if mask is None and len(ahead) == len(self.layers) and wavefront.pays(ahead, xs):
            return wavefront.abreast(ahead, xs, begins)
        final = []
        for layer, begin in zip(self.stack, begins, strict=True):
            xs, end = layer(xs, mask, begin)
            final.append(end)
        return xs, tuple(final)

    def accept(
        self,
        xs: Float[Tensor, "B T D"],
        mask: Bool[Tensor, "B T"] | None = None,
        state: tuple[Any, ...] | None = None,
    ) -> Float[Tensor, "B H"]:
        begin = state or (None,) * len(self.layers)
        *below, top = self.stack
        for layer, s in zip(below, begin, strict=False):
            xs, _ = layer(xs, mask, s)
        return top.accept(xs, mask, begin[-1])


def last(
    ys: Float[Tensor, "B T H"], mask: Bool[Tensor, "B T"] | None, *, reverse: bool = False
) -> Float[Tensor, "B H"]:
    """The output at the step that was read last: y_n, or y_1 in reverse; zero for an empty sequence."""
    if ys.shape[1] == 0:
        return ys.new_zeros(ys.shape[0], ys.shape[2])
    if mask is None:
        return ys[:, 0 if reverse else -1]
    place = last_place(mask, reverse=reverse)
    return ys[torch.arange(len(ys), device=ys.device), place] * mask.any(1)[:, None]
