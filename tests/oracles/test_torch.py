"""Elman's cells against torch.nn: values and gradients, both ways, ragged or not."""

from __future__ import annotations

import pytest
import torch
from agreement import executors
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_modules import PAIRS, STEPS, agree, pair, sequences

pytestmark = pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN")

each_pair = pytest.mark.parametrize("kind", PAIRS)
with_and_without_bias = pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
both_ways = pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reverse"])
both_types = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)


@each_pair
@with_and_without_bias
@both_ways
@both_types
def test_values_and_gradients_are_those_of_torch(kind, bias, reverse, dtype):
    module, cell = pair(kind, bias, dtype)
    assert "torch" in executors(cell)
    agree(module, cell, sequences(cell, [STEPS] * 4, reverse))


@each_pair
def test_without_an_initial_state_both_start_at_zero(kind):
    module, cell = pair(kind, True, torch.float64)
    some = sequences(cell, [STEPS] * 2, reverse=False)
    agree(module, cell, some._replace(state=None))


@each_pair
@with_and_without_bias
@both_ways
@settings(max_examples=8, deadline=None)
@given(lengths=st.lists(st.integers(1, STEPS), min_size=1, max_size=5))
def test_ragged_batches_are_packed_sequences(kind, bias, reverse, lengths):
    module, cell = pair(kind, bias, torch.float64)
    agree(module, cell, sequences(cell, lengths, reverse))


@each_pair
@both_ways
def test_ragged_batches_are_packed_sequences_in_single_precision(kind, reverse):
    module, cell = pair(kind, True, torch.float32)
    agree(module, cell, sequences(cell, [4, STEPS, 1, 2], reverse))
