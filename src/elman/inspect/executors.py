"""Which executor runs each recurrent cell of a network, in training and in prediction, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass, field, replace
from typing import Any, NamedTuple, cast

import torch
from torch import nn

from elman.cells import Cell, Stacked
from elman.decoding.interfaces import WritingNetwork
from elman.layers.decoders.attention_decoder import AttentionDecoder
from elman.layers.decoders.base import RecurrentDecoder
from elman.layers.rnn import RNN
from elman.scan import Choice, explain
from elman.scan.executors.few import FEW, SMALLEST, why_not_few

ROWS, STEPS = 32, 25  # of the batch that is asked about
BY_STEPS = "step by step"
RECORDED = "CUDA graph"


@dataclass(frozen=True)
class ExecutorChoice:
    """What runs a part of a network, and why each faster executor does not."""

    name: str  # as the names of its weights in model.safetensors begin
    mode: str  # training or prediction; also without padding, where that is another
    cell: str  # its formula and sizes
    executor: str
    reasons: dict[str, str] = field(default_factory=dict)
    structure: str = ""  # of its recurrence: dense, pointwise or linear in the state, and why


def executor_choices(net: nn.Module) -> list[ExecutorChoice]:
    """A choice for each cell and mode, for a batch of ``ROWS`` sequences of up to ``STEPS`` tokens."""
    choices: list[ExecutorChoice] = []
    training = net.training
    try:
        for mode in ("training", "prediction"):
            net.train(mode == "training")
            with torch.set_grad_enabled(net.training):
                choices += [choice for place in _places(net) for choice in _choices(place, mode)]
    finally:
        net.train(training)
    return [*choices, *_choose_writing(net)]


def _choose_writing(net: nn.Module) -> Iterator[ExecutorChoice]:
    """Whether a GPU records the steps of texts that are written, of a network that writes."""
    if not isinstance(net, WritingNetwork):
        return
    reason = net.unrecordable_reason()
    reasons = {} if reason is None else {RECORDED: reason}
    yield ExecutorChoice(
        "step", "writing, on a GPU", "the whole network", RECORDED if reason is None else BY_STEPS, reasons
    )


class _Place(NamedTuple):
    name: str
    cell: Cell[Any]
    layer: RNN | RecurrentDecoder  # that runs it


def _places(net: nn.Module) -> Iterator[_Place]:
    """Every cell that a layer runs over time; the cells within a cell are its own affair."""
    for name, module in net.named_modules():
        if isinstance(module, RNN):
            yield _Place(f"{name}.cell", module.cell, module)
        elif isinstance(module, RecurrentDecoder):
            for number, stack in enumerate(cast("list[Stacked]", list(module.stacks))):
                yield _Place(f"{name}.stacks.{number}", stack, module)


def _choices(place: _Place, mode: str) -> Iterator[ExecutorChoice]:
    if why := _why_by_steps(place.layer, mode):
        kind = f"{type(place.cell).__name__} {place.cell.input_size} -> {place.cell.output_size}"
        yield ExecutorChoice(place.name, mode, kind, BY_STEPS, {"scan": why})
        return
    padded, full = (_explain(place, padding) for padding in (True, False))
    yield from (ExecutorChoice(place.name, mode, *astuple(c)) for c in padded)
    if [c.executor for c in full] != [c.executor for c in padded]:
        yield from (ExecutorChoice(place.name, f"{mode}, no padding", *astuple(c)) for c in full)
    if mode == "prediction" and isinstance(place.layer, RNN):
        yield from _choose_alone(place)


def _choose_alone(place: _Place) -> Iterator[ExecutorChoice]:
    """What runs one short text, where that is the C++ for few rows, or would be with a library."""
    missing, mode = why_not_few(), "prediction, one text"
    for choice in _explain(place, padding=False, rows=1):
        if choice.executor == FEW.name:
            yield ExecutorChoice(place.name, mode, choice.cell, FEW.name, structure=choice.structure)
        elif missing is not None and place.cell.output_size >= SMALLEST:
            reasons = {FEW.name: missing, **choice.reasons}
            yield ExecutorChoice(place.name, mode, *astuple(replace(choice, reasons=reasons)))


def _explain(place: _Place, padding: bool, rows: int = ROWS) -> tuple[Choice, ...]:
    xs = next(place.cell.parameters()).new_zeros(rows, STEPS, place.cell.input_size)
    number, steps = (torch.arange(count, device=xs.device) for count in (rows, STEPS))
    mask = steps < (number % STEPS + 1)[:, None] if padding else None
    if not isinstance(place.layer, RNN):
        return explain(place.cell, xs, mask).choices
    return explain(place.cell, xs, mask, reverse=place.layer.reverse, executor=place.layer.executor).choices


def _why_by_steps(layer: RNN | RecurrentDecoder, mode: str) -> str:
    """Why a cell is not run over a whole sequence at once; nothing where it is."""
    if isinstance(layer, RecurrentDecoder) and mode == "prediction":
        return "each token is known only after the step before"
    attends = isinstance(layer, AttentionDecoder) and type(layer).unroll is AttentionDecoder.unroll
    return "attention feeds each step" if attends else ""
