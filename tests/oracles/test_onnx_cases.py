"""The node test cases that ONNX ships for RNN, LSTM and GRU, run by Elman's cells."""

from __future__ import annotations

from importlib import import_module

import pytest
import torch
from onnx.backend.test.case import node as shipped
from onnx_nodes import agree

# Importing an operator's module is what makes its cases. The package's own collect_testcases() imports
# the modules of all operators, which takes seconds.
for operator in ("rnn", "lstm", "gru"):
    import_module(f"{shipped.__name__}.{operator}")

CASES = {
    case.name: case
    for case in shipped._NodeTestCases
    if {one.op_type for one in case.model.graph.node} & {"RNN", "LSTM", "GRU"}
}


def test_every_kind_of_case_is_there():
    rnn = {"defaults", "with_initial_bias", "batchwise", "reverse", "bidirectional"}
    gru = rnn | {"seq_length"}
    lstm = rnn | {"with_peepholes"}
    assert {f"test_simple_rnn_{name}" for name in rnn} | {"test_rnn_seq_length"} <= set(CASES)
    assert {f"test_gru_{name}" for name in gru} <= set(CASES)
    assert {f"test_lstm_{name}" for name in lstm} <= set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_shipped_case_has_the_expected_outputs(name):
    (one,) = CASES[name].model.graph.node
    for inputs, outputs in CASES[name].data_sets:
        takes, gives = ([n for n in names if n] for names in (one.input, one.output))
        expected = {n: torch.tensor(y) for n, y in zip(gives, outputs, strict=True)}
        agree(one, dict(zip(takes, inputs, strict=True)), expected)
