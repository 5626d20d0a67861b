"""Cells one above the other."""

import torch

from elman.cells import GRU, LSTM, Dropout, Stacked


def test_a_stack_whose_masks_are_drawn_is_as_wide_as_before():
    stack = Stacked([Dropout(LSTM(3, 4), 0.5), GRU(4, 5)])
    drawn = stack.sample_masks(torch.zeros(2, 1, 3))
    assert drawn is not stack
    assert (drawn.input_size, drawn.output_size) == (3, 5)
