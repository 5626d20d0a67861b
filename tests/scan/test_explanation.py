"""What explain says is what runs, here and without being noticed."""

from dataclasses import replace

import pytest
import torch

from elman.cells import CELLS, GRU, LSTM, Dropout, Residual, Stacked, Zoneout
from elman.errors import ModelError
from elman.scan import EXECUTORS, explain, scan
from elman.scan.execution import Execution
from elman.scan.executors import choice, cuda, torch_kernels
from tests.zoo import ALL, cell_of

MASK = torch.tensor([[True] * 5, [True, True, False, False, False]])
SMALL = "not cpu: a cell of fewer than 32 units is not worth a library"


@pytest.fixture
def ran(monkeypatch):
    """The names of the executors that ran since, in order."""
    names = []

    def watched(one):
        def run(*arguments):
            names.append(one.name)
            return one.run(*arguments)

        return replace(one, run=run)

    monkeypatch.setattr(choice, "EXECUTORS", {n: watched(e) for n, e in EXECUTORS.items()})
    return names


@pytest.mark.parametrize("mask", [None, MASK], ids=["full", "ragged"])
@pytest.mark.parametrize("executor", ["auto", "loop"])
@pytest.mark.parametrize("gradients", [False, True])
@pytest.mark.parametrize("name", ALL)
def test_what_is_explained_is_what_runs(name, executor, mask, gradients, ran):
    cell, xs = cell_of(name), torch.randn(2, 5, 3, dtype=torch.float64)
    with torch.set_grad_enabled(gradients):
        expected = [choice.executor for choice in explain(cell, xs, mask, executor=executor).choices]
        assert not ran
        scan(cell, xs, mask, executor=executor)
    assert ran == expected


def test_a_compound_is_explained_part_by_part_with_reasons():
    stack = Stacked([Dropout(LSTM(3, 4), 0.5), Residual(GRU(4, 4))])
    xs = torch.zeros(2, 5, 3)
    assert str(explain(stack, xs)).splitlines() == [
        f"lstm 3 -> 4: torch (dense: a step multiplies by U.i, U.f, U.z, U.o; {SMALL})",
        f"gru 4 -> 4: codegen (dense: a step multiplies by U.r, U.z, U.n; {SMALL}; "
        "not torch: PyTorch has no kernel for the formula 'gru')",
    ]
    padded = explain(stack, xs, MASK).choices[0]
    assert padded.executor == "codegen"
    assert "LSTM without padding" in padded.reasons["torch"]


def test_the_class_of_a_recurrence_is_said_and_why():
    linear, bent = (str(explain(CELLS[name](8, 32), torch.zeros(2, 50, 8))) for name in ("ssru", "sru"))
    assert (
        linear
        == "ssru 8 -> 32: parallel (linear in the state: c = a ⊙ old + b, h from the input and other states)"
    )
    assert bent == "sru 8 -> 32: parallel (pointwise: c is not linear in itself: it is read by sigmoid)"


def test_explaining_draws_no_random_number_that_a_run_would_miss():
    cell, xs = Dropout(Zoneout(LSTM(3, 4), 0.5), 0.5), torch.randn(2, 5, 3)
    torch.manual_seed(3)
    expected = torch.rand(3)
    torch.manual_seed(3)
    explain(cell, xs)
    assert torch.equal(torch.rand(3), expected)


def test_what_cannot_run_is_refused_as_by_scan():
    xs = torch.zeros(2, 5, 3)
    with pytest.raises(ModelError, match="the torch executor cannot run this cell"):
        explain(GRU(3, 4), xs, executor="torch")
    with pytest.raises(ModelError, match="unknown executor 'gpu'"):
        explain(GRU(3, 4), xs, executor="gpu")


def test_a_kernel_of_torch_that_computes_something_else_is_not_taken(monkeypatch):
    """It is called as no documentation promises, so it is tried before it is trusted."""

    def changed(*arguments):
        ys, *final = torch.lstm(*arguments)
        return ys + 0.1, *final

    cell, xs = LSTM(3, 4), torch.zeros(2, 5, 3)
    torch_kernels.match.cache_clear()
    monkeypatch.setattr(torch_kernels, "KERNELS", ((cell.formula, changed),))
    try:
        (choice,) = explain(cell, xs).choices
    finally:
        torch_kernels.match.cache_clear()
    assert choice.executor == "codegen"
    assert "computes something else" in choice.reasons["torch"]


def test_it_is_said_once_that_weights_do_not_fit_on_a_gpu(monkeypatch, caplog):
    monkeypatch.setattr(cuda, "choose_tilings", lambda *given: None)
    cuda._log_once.cache_clear()
    with torch.autocast("cpu", torch.bfloat16):
        execution = Execution.begin(torch.zeros(2, 3, 4), None)
    with caplog.at_level("INFO", "elman"):
        reasons = {cuda.find_drawback(LSTM(4, 5), execution) for _ in range(2)}
    assert reasons == {"the recurrent weights do not fit on the chip"}
    assert caplog.messages == ["lstm: the weights do not fit on the chip; taken by another executor"]
