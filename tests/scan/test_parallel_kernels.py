"""The CUDA kernels of single units, run by the host, equal the loop; NVRTC compiles them for all GPUs."""

import re
import shutil
from math import prod

import pytest
import torch

from elman.cells import FormulaCell
from elman.formula import State, formula, sigmoid, tanh
from elman.formula.structure import DENSE, find_structure
from elman.formula.symbols import symbol
from elman.scan import scan
from elman.scan.execution import Execution
from elman.scan.executors.cuda.nvrtc import CudaError, compile_kernel, load_nvrtc
from elman.scan.executors.parallel import cuda_units
from elman.scan.executors.parallel.cuda_units import CudaUnits, find_shape, list_chunks
from elman.scan.executors.parallel.kernel_text import ELEMENTS, KernelShape
from elman.scan.executors.parallel.unit_plan import UnitPlan
from elman.scan.executors.parallel.unit_recurrence import run_units
from elman.state import leaves, map_state
from tests.scan.emulation import HostKernel
from tests.zoo import FORMULAS, cell_of

POINTWISE = [name for name in FORMULAS if find_structure(cell_of(name).formula).kind != DENSE]
RUN = ["mingru", "qrnn", "rg-lru", "ssru", "sru", "own"]
ROWS, STEPS = 3, 19
SHAPE = KernelShape(torch.float32, span=2, chunks=4, units=4)  # two and a half tiles, two groups of units
MASKS = {"full": None, "ragged": torch.arange(STEPS) < torch.tensor([19, 0, 11])[:, None]}


@formula(gates="a b", states="h k c", parameters="w", output="k")
def own(x, U, s, p):
    """Three states in a chain, the output amid them and read by another."""
    c = sigmoid(x.a) * s.c + x.b * p.w
    k = 0.9 * tanh(p.w) * s.k - s.c * x.a
    return State(h=c * s.k, k=k, c=c)


def make(name):
    torch.manual_seed(4)
    cell = FormulaCell(own, 3, 6) if name == "own" else FORMULAS[name](3, 6)
    for weight in cell.parameters():
        torch.nn.init.normal_(weight, std=0.5)
    return cell


@pytest.fixture(scope="module")
def on_host(tmp_path_factory):
    """Kernels are compiled for the host, each once."""
    if shutil.which("c++") is None:
        pytest.skip("no C++ compiler here")
    folder, made = tmp_path_factory.mktemp("kernels"), {}

    def load(source, name, device):
        if source not in made:
            made[source] = HostKernel(source, name, folder)
        return made[source]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuda_units, "load_kernel", load)
        patch.setattr(CudaUnits, "choose_shape", lambda self, given, backward: SHAPE)
        yield


def outcome(cell, xs, state, run):
    ys, final = run(cell, xs, state)
    parts = [ys, *(t for _, t in leaves(final))]
    torch.manual_seed(2)
    loss = sum((part * torch.randn(part.shape).to(part)).sum() for part in parts)
    given = [xs, *(t for _, t in leaves(state)), *cell.parameters()]
    return [*parts, *torch.autograd.grad(loss, given, allow_unused=True, materialize_grads=True)]


@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reverse"])
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("name", RUN)
def test_a_kernel_run_by_the_host_equals_the_loop(on_host, name, mask, reverse):
    assert_loop(name, MASKS[mask], reverse, torch.randn_like)


@pytest.mark.parametrize("name", ["mingru", "own"])
def test_a_state_may_lie_column_by_column(on_host, name):
    assert_loop(name, None, False, lambda t: torch.randn(t.shape[::-1]).T)


def assert_loop(name, mask, reverse, draw):
    """Values and gradients; ``draw`` makes the first state."""
    cell = make(name)
    torch.manual_seed(1)
    xs = torch.randn(ROWS, STEPS, 3, requires_grad=True)
    state = map_state(lambda t: draw(t).requires_grad_(), cell.initial(xs))
    execution = Execution.begin(xs, mask, reverse=reverse)
    ours = outcome(cell, xs, state, lambda c, x, s: run_units(c, x, s, execution, CudaUnits(cell.formula)))
    wide = (cell.double(), xs.detach().double().requires_grad_(), map_state(_widen, state))
    theirs = outcome(*wide, lambda c, x, s: scan(c, x, mask, s, reverse=reverse, executor="loop"))
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a.double(), b, rtol=2e-5, atol=2e-5)


def _widen(t):
    return t.detach().double().requires_grad_()


@pytest.mark.parametrize("name", POINTWISE)
def test_a_kernel_is_compiled_for_each_processor(name, tmp_path, monkeypatch):
    try:
        load_nvrtc()
    except CudaError as error:
        pytest.skip(str(error))
    number = POINTWISE.index(name)
    element, architecture = ELEMENTS[number % 3], ("sm_80", "sm_90a", "sm_100a")[number // 3 % 3]
    plan = UnitPlan(cell_of(name).formula)
    for backward in (False, True):
        shape = find_shape(plan, (8, 8192, 512), element, 132)
        source = cuda_units.print_kernel(plan.formula, shape, backward)
        assert len(compile_kernel(source.text, architecture)) > 1000


def test_long_rows_are_cut_into_more_pieces_than_many_rows():
    plan = UnitPlan(cell_of("mingru").formula)
    many, long, short = (
        find_shape(plan, size, torch.bfloat16, 132) for size in ((512, 512, 512), (8, 8192, 512), (8, 5, 512))
    )
    assert many.chunks == 1 < long.chunks
    assert short.chunks == 1
    assert find_shape(UnitPlan(cell_of("sru").formula), (8, 8192, 512), torch.float16, 132).chunks == 1


def test_what_is_made_of_parameters_alone_is_computed_once():
    plan = UnitPlan(own)
    made = symbol("p", "w")
    assert plan.find_hoisted([*plan.trace.new.values()]) == [0.9 * tanh(made)]  # k reads it, and is none itself


def make_linear(states, parameters):
    """So many states that are linear in their own past, and so many parameters."""
    names, words = [f"h{i}" for i in range(states)], [f"w{i}" for i in range(parameters)]

    @formula(gates="a b", states=" ".join(names), parameters=" ".join(words), output="h0")
    def linear(x, U, s, p):
        added = sum((getattr(p, word) for word in words), x.b)
        return State(**{name: x.a * getattr(s, name) + added for name in names})

    return linear


def count_shared_bytes(text, chunks):
    sizes = {"2": 2, "CHUNKS": chunks, "UNITS": 32}
    lines = [line for line in text.splitlines() if "__shared__" in line]
    arrays = [re.findall(r"\[(\w+)\]", array) for line in lines for array in line.split(",")]
    return 4 * sum(prod(sizes[size] for size in array) for array in arrays)


@pytest.mark.parametrize(("states", "parameters"), [(1, 2), (1, 3), (2, 4), (2, 5), (5, 4), (1, 45)])
def test_a_block_has_as_many_pieces_as_its_shared_memory_has_room_for(states, parameters):
    some = make_linear(states, parameters)
    allowed = list_chunks(UnitPlan(some))
    for chunks in (1, 2, 4, 8, 16):
        text = cuda_units.print_kernel(some, KernelShape(torch.float32, 8, chunks), backward=True).text
        assert (chunks in allowed) == (count_shared_bytes(text, chunks) <= 48 * 1024)
