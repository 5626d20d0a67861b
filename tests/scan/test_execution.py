"""What is known of a batch before its cells run."""

import pytest
import torch

from elman.scan.execution import Execution

FULL, EMPTY_ROW, HOLE = [[1, 1], [1, 1]], [[1, 1], [0, 0]], [[1, 1], [0, 1]]


@pytest.mark.parametrize(("mask", "padding"), [(None, False), (FULL, False), (EMPTY_ROW, True), (HOLE, True)])
def test_a_mask_without_a_gap_is_no_padding(mask, padding):
    mask = None if mask is None else torch.tensor(mask).bool()
    begun = Execution.begin(torch.randn(2, 2, 3), mask, reverse=False, executor="loop")
    assert begun.has_padding is padding
