"""The C++ executor computes what the reference computes in float64: values and all gradients."""

import ctypes
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy

import pytest
import torch

from elman.cells import CELLS, GRU, LSTM, Elman, FormulaCell, Mogrifier, ResetAfterGRU, WeightDrop, Zoneout
from elman.errors import ModelError
from elman.formula import State, formula, tanh
from elman.formula.operation import OPS
from elman.kernels import large_products
from elman.native import library
from elman.native.library import NativeError, find_compiler, load_library
from elman.scan import EXECUTORS, explain, scan
from elman.scan.executors.cpu import shipped_cells, source_of
from elman.state import leaves, map_state
from tests.zoo import cell_of

SIZES = [(9, 6, 5, 21), (3, 4, 3, 33)]  # rows, steps, features, units: no multiples of any register


def has_compiler():
    try:
        return bool(find_compiler())
    except NativeError:
        return False


pytestmark = pytest.mark.skipif(not has_compiler(), reason="there is no C++ compiler")


@pytest.fixture(params=[1, 2], ids=["one thread", "two threads"])
def threads(request, monkeypatch):
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    monkeypatch.setattr("elman.scan.executors.cpu.native_program._ALONE", 0)
    monkeypatch.setattr("elman.scan.executors.cpu.native_program._FEWEST", 1)
    yield request.param
    torch.set_num_threads(before)


def outcome(cell, xs, mask, state, **options):
    """Outputs, final state and the gradients of a random sum of them to everything."""
    xs, state = xs.clone().requires_grad_(), map_state(lambda t: t.clone().requires_grad_(), state)
    ys, final = scan(cell, xs, mask, state, **options)
    parts = [ys, *(t for _, t in leaves(final))]
    torch.manual_seed(2)
    loss = sum((part * torch.randn(part.shape).to(part)).sum() for part in parts)
    inputs = [xs, *(t for _, t in leaves(state)), *cell.parameters()]
    return [*parts, *torch.autograd.grad(loss, inputs, materialize_grads=True, allow_unused=True)]


def batch(cell, rows, steps, features):
    torch.manual_seed(1)
    xs = torch.randn(rows, steps, features)
    lengths = torch.tensor([steps, 0, 3, 1, steps - 1, 2, steps, steps, 4])[:rows]
    return (
        xs,
        map_state(lambda t: torch.rand_like(t) + 0.2, cell.initial(xs)),
        torch.arange(steps) < lengths[:, None],
    )


MIXED = {
    "mogrifier gru": lambda features, units: Mogrifier(GRU(features, units), rounds=4),
    "mogrifier reset-after gru": lambda features, units: Mogrifier(ResetAfterGRU(features, units), rounds=5),
}


@pytest.mark.parametrize("name", [*CELLS, *MIXED])
def test_every_cell_equals_the_reference(name, threads):
    for rows, steps, features, units in SIZES:
        torch.manual_seed(0)
        cell = (CELLS | MIXED)[name](features, units)
        for weight in cell.parameters():
            torch.nn.init.normal_(weight, std=units**-0.5)
        xs, state, mask = batch(cell, rows, steps, features)
        exact, start = deepcopy(cell).double(), map_state(lambda t: t.double(), state)
        for one in (None, mask):
            for reverse in (False, True):
                ours = outcome(cell, xs, one, state, reverse=reverse, executor="cpu")
                theirs = outcome(exact, xs.double(), one, start, reverse=reverse, executor="codegen")
                for a, b in zip(ours, theirs, strict=True):
                    assert (a - b).abs().max() <= 2e-6 * b.abs().max(), (units, reverse, tuple(a.shape))


def test_the_same_bits_whatever_stands_beside_a_row_and_however_many_threads(monkeypatch):
    monkeypatch.setattr("elman.scan.executors.cpu.native_program._ALONE", 0)
    cell, xs = LSTM(5, 40), torch.randn(17, 6, 5)
    whole, _ = scan(cell, xs, executor="cpu")
    before = torch.get_num_threads()
    for count in (1, 2, 3):
        torch.set_num_threads(count)
        assert torch.equal(scan(cell, xs, executor="cpu")[0], whole)
        assert torch.equal(scan(cell, xs[4:7], executor="cpu")[0], whole[4:7])
    torch.set_num_threads(before)


def test_without_gradients_nothing_is_kept_and_the_values_are_the_same():
    cell, xs = GRU(5, 40), torch.randn(4, 6, 5)
    expected, end = scan(cell, xs, executor="cpu")
    with torch.no_grad():
        ys, final = scan(cell, xs, executor="cpu")
    assert torch.equal(ys, expected)
    assert torch.equal(final.h, end.h)


def test_a_graph_can_be_gone_back_through_twice():
    cell, xs = LSTM(5, 40), torch.randn(4, 6, 5)
    loss = scan(cell, xs, executor="cpu")[0].square().sum()
    first = torch.autograd.grad(loss, list(cell.parameters()), retain_graph=True)
    again = torch.autograd.grad(loss, list(cell.parameters()))
    assert all(map(torch.equal, first, again))


@pytest.mark.parametrize("make", [LSTM, GRU, Elman])
def test_second_derivatives_are_those_of_the_loop(make):
    cell, xs = make(3, 8), torch.randn(3, 4, 3)

    def differentiate(executor):
        value = scan(cell, xs, executor=executor)[0].square().sum()
        first = torch.autograd.grad(value, list(cell.parameters()), create_graph=True)
        penalty = sum(g.square().sum() for g in first)
        return torch.autograd.grad(penalty, list(cell.parameters()))

    torch.testing.assert_close(differentiate("cpu"), differentiate("loop"), rtol=1e-3, atol=1e-3)


def test_dropped_weights_and_zoneout_are_those_of_the_loop():
    xs = torch.randn(3, 4, 5)
    for cell in (WeightDrop(LSTM(5, 40), 0.5), Zoneout(GRU(5, 40), 0.5)):
        drawn = []
        for executor in ("cpu", "codegen"):
            torch.manual_seed(3)
            drawn.append(scan(cell, xs, executor=executor)[0])
        torch.testing.assert_close(*drawn, rtol=1e-5, atol=1e-6)


def test_two_python_threads_share_a_cell():
    cell, inputs = LSTM(16, 64), [torch.randn(8, 30, 16) for _ in range(8)]

    def compute(xs):
        ys, _ = scan(cell, xs, executor="cpu")
        return ys, *torch.autograd.grad(ys.square().sum(), list(cell.parameters()))

    alone = [compute(xs) for xs in inputs]
    with ThreadPoolExecutor(2) as pool:
        together = [*pool.map(compute, inputs)]
    for one, other in zip(alone, together, strict=True):
        assert all(map(torch.equal, one, other))


def test_not_a_number_stays_one():
    xs = torch.randn(2, 4, 5)
    xs[1, 2, 3] = torch.nan
    for make in (LSTM, GRU, Elman, CELLS["relu"], CELLS["slstm"]):
        ys, _ = scan(make(5, 40), xs, executor="cpu")
        assert ys[0].isfinite().all()
        assert ys[1, 2:].isnan().all()


def test_what_it_cannot_run_is_refused_with_a_reason():
    reason = EXECUTORS["cpu"].unsupported_reason
    assert reason(LSTM(3, 4)) is None
    assert "float64" in reason(LSTM(3, 4).double())
    assert "heads" in reason(LSTM(3, 4, heads=2))
    with pytest.raises(ModelError, match="float32: not under autocast"), torch.autocast("cpu", torch.bfloat16):
        scan(LSTM(3, 4), torch.randn(2, 3, 3), executor="cpu")


def test_a_small_cell_is_not_worth_a_library_and_without_a_compiler_another_executor_runs(
    monkeypatch, tmp_path
):
    xs = torch.randn(2, 25, 5)
    assert "fewer than 50 tokens" in explain(GRU(5, 40), xs[:, :24]).choices[0].reasons["cpu"]
    assert "fewer than 32 units" in explain(GRU(5, 4), xs).choices[0].reasons["cpu"]
    assert explain(GRU(5, 40), xs).choices[0].executor == "cpu"

    @formula(gates="h")
    def unseen(x, U, s):
        return State(h=tanh(x.h + U.h(s.h) - 0.123))

    monkeypatch.setenv("ELMAN_CACHE", str(tmp_path))
    monkeypatch.setattr(library.shutil, "which", lambda name: None)
    choice = explain(FormulaCell(unseen, 5, 40), xs).choices[0]
    assert choice.executor == "codegen"
    assert "no C++ compiler" in choice.reasons["cpu"]


def test_on_one_thread_an_lstm_without_padding_is_left_to_pytorch_unless_large_products_are_ours(monkeypatch):
    cell, xs = LSTM(5, 40), torch.randn(2, 25, 5)
    for threads, padded, why_not, expected in (
        (1, False, "Intel", "torch"),
        (1, False, None, "cpu"),
        (1, True, "Intel", "cpu"),
        (2, False, "Intel", "cpu"),
    ):
        monkeypatch.setattr(torch, "get_num_threads", lambda threads=threads: threads)
        monkeypatch.setattr(large_products, "unsupported_reason", lambda why_not=why_not: why_not)
        mask = torch.ones(2, 25).bool()
        mask[1, 3:] = not padded
        assert explain(cell, xs, mask).choices[0].executor == expected


def test_a_formula_is_printed_alike_in_every_process():
    program = "import elman.cells as cells\nfrom elman.scan.executors.cpu import source_of\n"
    program += "print(end=source_of(cells.LayerNormLSTM(3, 4)).text)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    [source_of(CELLS[name](3, 4)) for name in ("qrnn", "gru", "slstm")]  # whose symbols then come first
    assert done.stdout == source_of(CELLS["layer-norm-lstm"](3, 4)).text


def test_a_wheel_has_the_libraries_of_every_cell_by_name(monkeypatch, tmp_path):
    built = []
    monkeypatch.setattr(shipped_cells, "SHIPPED", tmp_path)
    monkeypatch.setattr(shipped_cells, "build_library", lambda *given: built.append(given))
    shipped_cells.build_shipped()
    sources = {source for source, _, _ in built}
    assert {source_of(make(8, 64)).text for make in CELLS.values()} <= sources
    assert {path.read_text() for path in library.FOLDER.glob("*.cpp")} <= sources
    assert {folder for _, _, folder in built} == {tmp_path}


def test_every_pointwise_operation_has_lanes():
    pointwise = [op for op in OPS.values() if op.c]
    calls = [
        f'extern "C" void of_{op.name}(const float* a, const float* b, float* out) {{ '
        f"store(out, {op.lanes.format('load(a)', 'load(b)')}); }}"
        for op in pointwise
    ]
    built = load_library(
        "\n".join(['#include "lanes.hpp"', 'extern "C" int count_lanes() { return LANES; }', *calls])
    )
    a = torch.tensor(
        [-90.0, -20.0, -1.5, -0.3, -1e-4, 0.0, 1e-4, 0.2, 0.7, 1.0, 2.5, 8.0, 20.0, 60.0, 85.0, 3.0]
    )
    b = torch.linspace(0.4, 3, 16)
    for op in pointwise:
        first = a.abs() + 0.01 if op.name in ("log", "sqrt", "rsqrt", "pow") else a
        out = torch.empty(16)
        for at in range(0, 16, built.count_lanes()):
            pointers = (ctypes.c_void_p(t.data_ptr() + 4 * at) for t in (first, b, out))
            getattr(built, f"of_{op.name}")(*pointers)
        expected = op.tensor(*(t.double() for t in (first, b)[: op.arity]))
        torch.testing.assert_close(out.double(), expected, rtol=4e-6, atol=1e-35, msg=op.name)


def test_what_takes_all_units_at_once_has_no_lanes():
    with pytest.raises(ModelError, match="softmax takes all units at once"):
        scan(cell_of("wordy", torch.float32), torch.zeros(2, 5, 3), executor="cpu")
