"""Gates and candidates are called what the papers call them."""

import pytest

from elman.cells import CELLS
from elman.inspect.gate_kinds import value_kinds


@pytest.mark.parametrize(
    ("cell", "gates", "candidates"),
    [
        ("elman", "", ""),
        ("lstm", "i f o", "z"),
        ("gru", "r z", "n"),
        ("relu-gru", "r z", "n"),
        ("mingru", "z", "n"),
        ("rg-lru", "r i", "v"),
        ("slstm", "o", "z"),
    ],
)
def test_a_gate_lets_through_and_a_candidate_is_what_would_be_written(cell, gates, candidates):
    formula = CELLS[cell](3, 4).formula
    kinds = value_kinds(formula)
    assert [name for name, kind in kinds.items() if kind == "gate"] == gates.split()
    assert [name for name, kind in kinds.items() if kind == "candidate"] == candidates.split()
    assert {name for name, kind in kinds.items() if kind == "state"} == set(formula.states)
