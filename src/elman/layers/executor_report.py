"""Which executors would run the recurrent layers of a network, and why."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from elman.cells import Cell, Stacked
from elman.layers.decoders.attention_decoder import AttentionDecoder
from elman.layers.decoders.base import RecurrentDecoder
from elman.layers.rnn import RNN
from elman.scan import Choice, Explanation, explain


def explain_executors(net: nn.Module, *, rows: int = 32, steps: int = 32) -> dict[str, Explanation]:
    """What runs each recurrent layer and decoder of ``net``, by name, over so many sequences of that length.

    It is what would run where the network lies, with gradients if they are enabled; see `elman.scan.explain`.
    """
    found: dict[str, Explanation] = {}
    for name, part in net.named_modules():
        if isinstance(part, RNN):
            like = _like(part.cell, rows, steps)
            found[name] = explain(part.cell, like, reverse=part.reverse, executor=part.executor)
        elif isinstance(part, AttentionDecoder) and part.steps_through:
            found[name] = Explanation(tuple(map(_step, part.layers)))
        elif isinstance(part, RecurrentDecoder):
            for number, stack in enumerate(part.stacks):
                assert isinstance(stack, Stacked)
                like = _like(stack, rows, steps)
                found[f"{name}.stacks.{number}"] = explain(stack, like)
    return found


def _like(cell: Cell[Any], rows: int, steps: int) -> torch.Tensor:
    return next(cell.parameters()).new_zeros(rows, steps, cell.input_size)


def _step(cell: Cell[Any]) -> Choice:
    reason = "attention comes between the steps"
    return Choice(f"{type(cell).__name__} {cell.input_size} -> {cell.output_size}", "step", {"scan": reason})
