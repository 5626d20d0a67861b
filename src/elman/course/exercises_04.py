"""Exercises of notebook 04, LSTM and GRU."""

from __future__ import annotations

from typing import Any

import torch

from elman.cells import CELLS, FormulaCell
from elman.course.exercise import Exercise
from elman.course.judges import differs, expect_number
from elman.formula import Formula
from elman.scan import scan


def _judge_lstm_step(step: Any) -> str | None:
    """h and c of an LSTM from its gates."""
    i, f, o = torch.rand(3, 4)
    z, c = torch.rand(4) * 2 - 1, torch.randn(4)
    answer = step(i, f, z, o, c)
    if not isinstance(answer, tuple) or len(answer) != 2:
        return "Two values are expected: return h, c."
    h, new = answer
    memory = f * c + i * z
    for wrong, said in (
        (i * c + f * z, "The gates are swapped: f guards the old memory, i the candidate."),
        (f * c + (1 - f) * z, "That is a coupled gate; the LSTM has an input gate of its own."),
        (torch.tanh(memory), "That is the memory of lecture 001: here c itself is not squashed."),
        (c + i * z, "Nothing is forgotten."),
    ):
        if differs(new, wrong) is None:
            return said
    if (mistake := differs(new, memory)) is not None:
        return f"The new c: {mistake}"
    if differs(h, o * memory) is None:
        return "The new c is right; h shows it through a tanh."
    return None if (mistake := differs(h, o * torch.tanh(memory))) is None else f"The new h: {mistake}"


def _judge_gru(formula: Any) -> str | None:
    """A formula that computes what the GRU of row 20 does, whatever the weights."""
    if not isinstance(formula, Formula):
        return "The answer is the formula itself, made by @formula."
    if set(formula.gates) != {"r", "z", "n"} or formula.states != ("h",):
        return "Its gates are r, z and n, and its state is h."
    xs = torch.randn(2, 6, 3)
    given = _run(FormulaCell(formula, 3, 4), xs)
    said = {
        "flipped-gru": "That is the opposite convention: here z near 1 keeps the old state.",
        "reset-after-gru": "The reset gate acts after the product; here it multiplies h before U.n.",
        "relu-gru": "That has ReLU; here the candidate has tanh.",
    }
    for name, mistake in said.items():
        if differs(given, _run(CELLS[name](3, 4), xs)) is None:
            return mistake
    return differs(given, _run(CELLS["gru"](3, 4), xs))


def _run(cell: Any, xs: torch.Tensor) -> torch.Tensor:
    """Its outputs with weights that depend on the names of the gates, not on their order."""
    gates, widths = cell.formula.gates, [4, 4, 4]
    seeds = {"r": 1, "z": 2, "n": 3}
    with torch.no_grad():
        for gate, W in zip(gates, cell.W.split(widths), strict=True):
            W.copy_(torch.randn(W.shape, generator=torch.Generator().manual_seed(seeds[gate])))
        for product, U in zip(cell.formula.trace.products, cell.U, strict=True):
            for gate, block in zip(product.names, U.split(4), strict=True):
                draw = torch.Generator().manual_seed(10 + seeds.get(gate, 9))
                block.copy_(torch.randn(block.shape, generator=draw))
    ys, _ = scan(cell, xs, executor="loop")
    return ys.detach()


EXERCISES = (
    Exercise(
        number="04.1",
        asks="How do the gates of an LSTM make the new h and the new c?",
        judge=_judge_lstm_step,
        hints=(
            "First the memory: a part of the old one and a part of the candidate.",
            "The forget gate multiplies the old memory, the input gate multiplies the candidate; then add.",
            "The output gate multiplies the tanh of the new memory.",
        ),
        why="Between the old and the new memory there is one product and one sum, and no squashing.",
    ),
    Exercise(
        number="04.2",
        asks="After how many steps is less than half left, if f is always 0.95?",
        judge=expect_number(
            14,
            {
                13: "After 13 steps a little more than half is left.",
                10: "That would be so if 0.05 of the first value were lost at each step.",
                11: "That would be so if 0.05 of the first value were lost at each step.",
                19: "That many steps leave much less than half.",
                20: "That many steps leave about a third.",
            },
        ),
        hints=(
            "After n steps 0.95 to the power of n is left.",
            "Try some n in Python, or use logarithms.",
            "It lies between 10 and 20.",
        ),
        why="To keep half over a hundred steps, f must be above 0.993.",
    ),
    Exercise(
        number="04.3",
        asks="How many parameters has GRU(100, 50)?",
        judge=expect_number(
            22650,
            {
                30200: "That is an LSTM: the GRU has one gate less.",
                22500: "The biases are missing.",
                22800: "That counts two biases for each unit of a gate; one is enough.",
                15100: "That counts the two gates, but not the candidate.",
                15150: "The matrices of the recurrence are missing.",
            },
        ),
        hints=(
            "The formula of the LSTM has a factor 4, for three gates and the candidate.",
            "For a GRU the factor is 3.",
            "Each part has a matrix of 50 × 100, a matrix of 50 × 50 and 50 biases.",
        ),
        why="Three quarters of an LSTM of the same size.",
    ),
    Exercise(
        number="04.4",
        asks="Which formula is the GRU with the reset before the product?",
        judge=_judge_gru,
        hints=(
            "Begin with mgu: there one gate does the work of two.",
            "The gate r multiplies the old state inside the candidate; z mixes old state and candidate.",
            "If z is near 1, it must keep the old state, so it is z that multiplies s.h in the last line.",
        ),
        why="Your formula and the cell GRU give the same numbers for the same weights.",
    ),
)
