"""Results that are only added up lie in one buffer: the program adds to it and never by itself."""

import pytest

from elman.cells import GRU, LSTM, Mogrifier
from elman.formula.symbols import symbol
from elman.scan.executors.codegen import sources
from elman.scan.executors.codegen.accumulation import find_sums, inside
from tests.zoo import cell_of


@pytest.mark.parametrize(
    ("cell", "products"),
    [
        (LSTM(3, 4), 1),
        (Mogrifier(LSTM(3, 4), rounds=5), 2),
        (Mogrifier(LSTM(3, 4), rounds=4, rank=2), 2),
        (Mogrifier(GRU(3, 4), rounds=2), 3),
    ],
    ids=["lstm", "odd rounds", "even rounds", "two recurrent products"],
)
def test_gates_are_added_up_by_products_alone(cell, products):
    forward, _ = sources(cell.formula, cell.widths)
    assert forward.count(".addmm_(") == products
    assert "torch.add(" not in forward


def test_the_last_result_of_a_sum_has_become_the_sum():
    trace = Mogrifier(LSTM(3, 4), rounds=5).formula.trace
    found, x, r = find_sums(trace), symbol("x", "i"), symbol("r", "i")
    assert found.bases["i"] is x
    assert found.bases["W_i"] is found.result("i") is x + r
    assert found.result("W_i") in trace.nodes
    assert found.result("Q_5") is symbol("r", "Q_5")


def test_what_lies_apart_is_added_later():
    found = find_sums(cell_of("summed").formula.trace)
    assert set(found.bases) == {"a", "n"}  # l lies beside b and m, which are added to nothing
    assert set(find_sums(cell_of("plain").formula.trace).bases) == {"z"}


def test_inside_is_side_by_side_and_in_order():
    a, b, c = object(), object(), object()
    assert inside([b, c], [a, b, c]) == 1
    assert inside([a, c], [a, b, c]) is None
    assert inside([c, b], [a, b, c]) is None


def test_gates_that_nobody_else_reads_are_squashed_where_they_lie():
    """Neither memory nor time for a second copy of all gates."""
    forward, _ = sources(LSTM.formula, LSTM(3, 4).widths)
    assert forward.count("torch.sigmoid_(") == 2  # i and f lie side by side
    assert "torch.sigmoid(" not in forward
