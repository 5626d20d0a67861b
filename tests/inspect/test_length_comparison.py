"""Parity and copying: examples hold their answers, nets of equal size learn them, longer ones are tested."""

import time

import pytest
import torch

from elman.errors import ConfigError
from elman.inspect import length_comparison
from elman.inspect.compared_cells import resolve_cells
from elman.inspect.length_comparison import LengthComparison
from elman.inspect.length_tasks import COPIED, copying_examples, parity_examples


def test_a_parity_is_that_of_the_ones():
    bits, odd = parity_examples(50, 7, seed=3)
    assert bits.shape == (50, 7)
    assert [sum(row) % 2 for row in bits.tolist()] == odd[:, 0].tolist()
    assert odd.unique().tolist() == [0, 1]


def test_a_copy_is_asked_for_from_the_sign_on():
    ids, symbols = copying_examples(20, 5, seed=3)
    assert torch.equal(ids[:, :5], symbols)
    assert (ids[:, 5] == COPIED).all()
    assert (ids[:, 6:] == COPIED + 1).all()
    assert ids.shape[1] == 10  # as many answers from the sign on as there are symbols
    assert symbols.max() < COPIED


def test_parity_beyond_the_trained_length_tells_dense_cells_from_linear_ones():
    comparison = LengthComparison(length=6, updates=200, parameters=3000)
    began = time.perf_counter()
    dense, linear = comparison.run(["lstm", "mingru"])
    assert 0 < dense.seconds + linear.seconds <= time.perf_counter() - began
    assert [*dense.right["parity"]] == [*dense.right["copying"]] == [6, 24]
    assert dense.right["parity"][24] > 90 > linear.right["parity"][24]
    assert dense.updates == {"parity": 200, "copying": 200}
    assert dense.widths["parity"] < linear.widths["parity"]  # of as many parameters
    again = next(comparison.run(["lstm"]))
    assert again.right == dense.right


def test_a_mogrifier_has_a_name_in_comparisons():
    assert resolve_cells(["mogrifier"])["mogrifier"](3, 4).formula.name == "mogrified_lstm"


def test_minutes_are_shared_by_cells_and_tasks(monkeypatch):
    budgets = []
    monkeypatch.setattr(length_comparison, "train_task", lambda *given, lr: budgets.append(given[-1]) or 1)
    [*LengthComparison(length=2, width=4, minutes=2.0).run(["gru", "elman"])]
    assert [budget.seconds for budget in budgets] == [30.0] * 4
    budgets.clear()
    [*LengthComparison(length=2, width=4, updates=7).run(["gru"])]
    assert [(budget.updates, budget.seconds) for budget in budgets] == [(7, None)] * 2


def test_equal_in_units_or_in_parameters():
    with pytest.raises(ConfigError, match="width and parameters exclude each other"):
        LengthComparison(width=3, parameters=100)
