"""A recorded stack steps as the one it was made of, and keeps what its formula cells did."""

import torch

from elman.cells import GRU, LSTM, Residual, Stacked, record_stack
from elman.scan import scan
from tests.own_cells import Recall


def test_every_step_of_every_layer_with_a_formula_is_recorded_and_nothing_else_changes():
    stack = Stacked([LSTM(3, 4), Recall(4, 4), Residual(GRU(4, 4))])
    xs = torch.randn(2, 5, 3)
    expected, _ = scan(stack, xs, executor="loop")
    again, recorded = record_stack(stack)
    ys, _ = scan(again, xs, executor="loop")
    torch.testing.assert_close(ys, expected)
    assert [type(one.cell) for one in recorded] == [LSTM, GRU]
    for one in recorded:
        assert len(one.steps) == 5
        (begin, _), *_ = one.steps
        assert not begin.h.any(), "the state before the first step"
    outputs = torch.stack([recorded[0].cell.step(*step).h for step in recorded[0].steps], 1)
    torch.testing.assert_close(outputs, scan(stack.layers[0], xs)[0])
