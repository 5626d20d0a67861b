"""One token through a whole network, without gradients: embedding, layers and output in one call of C++."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import nn

from elman.cells import Cell
from elman.kernels.few_rows import most_rows
from elman.layers.embedding import Embedding
from elman.layers.softmax import Softmax
from elman.native.host_threads import find_parallel
from elman.native.step_program import Outdated, ProgramBuilder
from elman.scan.kept_weights import KeptWeights
from elman.scan.stack_program import StackWriter, find_layout, read_states
from elman.shapes import Float, Int, Tensor

Parts = tuple[nn.Module, Cell[Any], Softmax | None]
"""An embedding, a cell, and the output; none is asked for where it is no single product."""


class TokenStep:
    """softmax(O(R(s, E[w]))) of a module that holds an embedding, a cell and an output, by its weights as they
    are; where the program cannot be written, ``program`` is None."""

    def __init__(self, owner: nn.Module, embed: nn.Module, cell: Cell[Any], output: Softmax | None) -> None:
        self.kept, self.program = KeptWeights(owner), None
        layout = find_layout(cell) if most_rows() and isinstance(embed, Embedding) else None
        if layout is None or not isinstance(embed, Embedding):
            return
        self.layout, states = layout, [*layout.widths()]
        self.written = states if output is None else [*states, len(output.b)]
        build, count = ProgramBuilder([*states, *self.written]), len(states)
        writer = StackWriter(build, self.kept, iter(range(count)), iter(range(count, 2 * count)))
        h = writer.write(cell, embed.E.weight)
        self.result = h - count if output is None else count  # which of what is written
        if output is not None:
            if isinstance(output.P, nn.Linear):
                h = build.multiply(h, writer.matrix(output.P.weight))
            build.multiply(h, writer.matrix(output.W), writer.address(output.b), 2 * count)
        self.hooks = embed._forward_hooks, embed.E._forward_hooks
        self.program = None if writer.missing else build.finish(self.kept.samples)

    def __call__(self, state: Any, tokens: Int[Tensor, " B"]) -> tuple[Any, Float[Tensor, "B V"]] | None:
        """The new state, and the logits, or without an output h; None where this is not for the program."""
        rows = len(tokens)
        if self.program is None or self.hooks[0] or self.hooks[1] or not 0 < rows <= most_rows():
            return None
        old = read_states(state)
        if old is None:
            return None
        like, tokens = old[0], tokens.contiguous()
        new = [like.new_empty(rows, width) for width in self.written]
        places = [t.data_ptr() for t in (*old, *new)]
        self.program(rows, places, tokens.data_ptr(), torch.get_num_threads(), find_parallel())
        return self.layout.arrange(iter(new)), new[self.result]


_STEPS: WeakKeyDictionary[nn.Module, dict[bool, TokenStep]] = WeakKeyDictionary()


def check_steps(owner: nn.Module) -> None:
    """Before a text: a step of a module of which any weight was changed will be written anew.

    All numbers of what something was made of are read, which is too much to do for each token.
    """
    known = _STEPS.get(owner, {})
    for whole, step in [*known.items()]:
        if step.program is not None and not (step.kept.is_current() and step.program.is_current()):
            known.pop(whole, None)


def step_token(
    owner: nn.Module, find_parts: Callable[[], Parts], state: Any, tokens: Tensor, *, whole: bool
) -> tuple[Any, Tensor] | None:
    """`TokenStep` of a module, written anew where its weights are others: to the logits, or to h."""
    known = _STEPS.setdefault(owner, {})
    found = known.get(whole)
    if found is not None and found.kept.is_current():
        try:
            return found(state, tokens)
        except Outdated:
            pass  # a weight was changed without torch's notice: the step is written anew
    embed, cell, output = find_parts()
    found = known[whole] = TokenStep(owner, embed, cell, output if whole else None)
    return found(state, tokens)
