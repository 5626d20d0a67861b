"""Compilers and exporters take a layer as it is: one graph, any length, the same values and gradients."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch.nn.functional import cross_entropy

from elman.cells import LSTM, Zoneout
from elman.errors import FormulaError
from elman.formula import State, formula, tanh
from elman.formula.formula_names import find_formula, name_formula
from elman.layers.crf import CRF
from elman.layers.rnn import RNN
from elman.operators import register_operators
from tests.laws.compilation import CASES
from tests.zoo import cell_of

ROOT = Path(__file__).parents[2]


def run_elsewhere(*arguments):
    """Python in another process, where nothing checks signatures."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, *arguments], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def outcomes():
    return json.loads(run_elsewhere("-m", "tests.laws.compilation"))


@pytest.mark.parametrize("name", CASES)
def test_one_graph_computes_the_same(outcomes, name):
    assert not outcomes[name], outcomes[name]


@pytest.mark.skipif(not shutil.which("g++"), reason="torch.compile needs a C++ compiler (g++)")
def test_a_layer_compiles_to_native_code_in_seconds():
    program = """
import time, torch
from elman.cells import LSTM
from elman.layers.rnn import RNN
from elman.operators import register_operators
torch.compile(torch.sin)(torch.ones(3))  # what any program waits for once
layer, xs = RNN(LSTM(4, 6)), torch.randn(2, 7, 4)
begun = time.process_time()
ys, _ = torch.compile(layer, fullgraph=True)(xs)
assert torch.allclose(ys, layer(xs)[0], atol=1e-6)
print(time.process_time() - begun)
"""
    assert float(run_elsewhere("-c", program)) < 20


def export(layer, *given):
    steps = torch.export.Dim("steps", min=1)
    return torch.export.export(layer, given, dynamic_shapes=[{1: steps} for _ in given])


@pytest.mark.parametrize("name", ["lstm", "rg-lru", "odd", "residual", "zoneout of a mogrifier"])
def test_an_exported_layer_reads_any_length(name):
    layer = RNN(cell_of(name)).eval()
    program = export(layer, torch.randn(2, 7, 3, dtype=torch.double), torch.ones(2, 7).bool()).module()
    for steps in (1, 11):
        xs = torch.randn(2, steps, 3, dtype=torch.double)
        mask = torch.arange(steps) < torch.tensor([[steps], [steps // 2]])
        torch.testing.assert_close(program(xs, mask), layer(xs, mask))


def test_an_exported_tagger_reads_any_length():
    class Decoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.crf = CRF(3)

        def forward(self, scores, mask):
            return self.crf.viterbi(scores, mask).tags, self.crf.marginals(scores, mask)

    decoder, scores, mask = Decoder(), torch.randn(2, 9, 3), torch.ones(2, 9).bool()
    program = export(decoder, torch.randn(2, 4, 3), torch.ones(2, 4).bool()).module()
    torch.testing.assert_close(program(scores, mask), decoder(scores, mask))


def test_an_exported_layer_runs_in_another_process(tmp_path):
    layer, xs = RNN(LSTM(3, 4)), torch.randn(2, 9, 3)
    torch.export.save(export(layer, torch.randn(2, 7, 3)), tmp_path / "layer.pt2")
    torch.save(xs, tmp_path / "xs.pt")
    program = """
import sys, torch, elman.exported
xs = torch.load(sys.argv[1] + "/xs.pt")
torch.save(torch.export.load(sys.argv[1] + "/layer.pt2").module()(xs)[1].c, sys.argv[1] + "/c.pt")
"""
    run_elsewhere("-c", program, str(tmp_path))
    torch.testing.assert_close(torch.load(tmp_path / "c.pt"), layer(xs)[1].c)


def test_a_program_finds_its_formula_and_no_other():
    name = name_formula(LSTM.formula.handle)
    assert find_formula(name) is LSTM.formula
    noisy = Zoneout(LSTM(3, 4), 0.1).formula
    assert name_formula(noisy.handle) != name
    with pytest.raises(FormulaError, match="is not known here: import what defines it"):
        find_formula(name.replace("@", "@0"))


def test_formulas_of_one_name_are_told_apart_by_what_they_compute():
    def make(sign):
        @formula(gates="h")
        def own(x, U, s):
            return State(h=tanh(x.h + sign * U.h(s.h)))

        return own

    plus, minus, again = make(1), make(-1), make(1)
    names = [name_formula(one.handle) for one in (plus, minus, again)]
    assert names[0] == names[2] != names[1]
    assert find_formula(names[1]) is minus


@pytest.mark.parametrize("masked", [False, True])
def test_the_operator_keeps_what_torch_asks_of_operators(masked):
    cell, xs = LSTM(3, 4), torch.randn(2, 5, 3, requires_grad=True)
    mask = [torch.tensor([[True] * 5, [True] * 2 + [False] * 3])] if masked else []
    tensors = [xs, *mask, *cell.affine(), *cell.initial(xs), *cell.matrices()]
    register_operators()
    name = " ".join([name_formula(cell.formula.handle), "1", *(f"{n}={w}" for n, w in cell.widths.items())])
    torch.library.opcheck(
        torch.ops.elman.recurrence.default, (tensors, name, [len(mask), 2], "auto", False, None)
    )


def test_an_operator_is_computed_entry_by_entry_under_vmap():
    xs, W, targets = torch.randn(3, 4, 5), torch.randn(20, 5), torch.randint(20, (3, 4))
    register_operators()
    operator = torch.ops.elman.chunked_nll.default
    found = torch.vmap(lambda h, t: operator([h, W, t], 0.1, 8)[0])(xs, targets)
    for ours, h, t in zip(found, xs, targets, strict=True):
        torch.testing.assert_close(ours, cross_entropy(h @ W.T, t, reduction="none", label_smoothing=0.1))
