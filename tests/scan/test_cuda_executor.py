"""The cuda executor on a GPU: no further from float64 than the loop in the same precision; always the same."""

import copy

import pytest
import torch

from elman.cells import GRU, LSTM, Formulaic, Mogrifier, Stacked, WeightDrop, Zoneout
from elman.cuda_graph import recording
from elman.scan import explain, scan
from elman.scan.execution import Execution
from elman.scan.executors.cuda import CUDA, contest, shape_of
from elman.scan.executors.cuda.kernel_recurrence import run_program
from elman.scan.executors.cuda.program import CudaProgram, print_kernel
from elman.scan.executors.cuda.tiling import Tiling
from elman.scan.executors.cuda.tuning import find_chip
from elman.scan.executors.wavefront import worthwhile
from elman.state import State
from tests.zoo import ALL, cell_of

pytestmark = pytest.mark.gpu
CELLS = {name: lambda name=name: cell_of(name) for name in ALL if isinstance(cell_of(name), Formulaic)} | {
    "wide lstm": lambda: LSTM(40, 200),
    "wide gru": lambda: GRU(40, 136),
    "lstm of heads": lambda: LSTM(24, 96, heads=3),
    "mogrifier": lambda: Mogrifier(GRU(24, 72), rounds=3, rank=8),
    "weight drop": lambda: WeightDrop(LSTM(24, 72), 0.3).eval(),
    "zoneout": lambda: Zoneout(LSTM(24, 72), 0.3).eval(),
}


def results(cell, xs, mask, state, executor, reverse):
    """y, the final states, and the gradients of all that goes in."""
    xs, state = xs.clone().requires_grad_(), [s.clone().requires_grad_() for s in state]
    named = State(**dict(zip(cell.formula.states, state, strict=True)))
    ys, end = scan(cell, xs, mask, named, reverse=reverse, executor=executor)
    torch.manual_seed(0)
    weights = [torch.randn(t.shape, dtype=torch.float64, device="cuda") for t in (ys, *end)]
    loss = sum((t.double() * w).sum() for t, w in zip((ys, *end), weights, strict=True))
    inputs = [xs, *state, *cell.parameters()]
    gradients = torch.autograd.grad(loss, inputs, allow_unused=True)
    return [t for t in (ys, *end, *gradients) if t is not None]


def distance(found, expected):
    return max(
        ((a.double() - b).norm() / b.norm().clamp_min(1e-3)).item()
        for a, b in zip(found, expected, strict=True)
    )


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("ragged", [False, True])
@pytest.mark.parametrize("name", CELLS)
def test_it_is_as_near_to_float64_as_the_loop(name, ragged, reverse):
    torch.manual_seed(1)
    cell = CELLS[name]().float().cuda()
    if CUDA.unsupported_reason(cell):
        pytest.skip(CUDA.unsupported_reason(cell))
    xs = torch.randn(11, 9, cell.input_size, device="cuda")
    lengths = torch.tensor([9, 0, 4, 9, 1, 7, 2, 9, 5, 3, 8], device="cuda")
    mask = torch.arange(9, device="cuda") < lengths[:, None] if ragged else None
    state = [0.1 + 0.1 * torch.rand(11, cell.widths[n], device="cuda") for n in cell.formula.states]
    exact = results(
        copy.deepcopy(cell).double(), xs.double(), mask, [s.double() for s in state], "loop", reverse
    )
    with torch.autocast("cuda", torch.float16):
        near = distance(results(cell, xs, mask, state, "loop", reverse), exact)
        found = distance(results(cell, xs, mask, state, "cuda", reverse), exact)
    assert found <= 1.5 * near + 5e-4


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_cell_without_a_kernel_of_torch_runs_by_it(dtype):
    cell, xs = GRU(64, 128).cuda(), torch.randn(8, 20, 64, device="cuda")
    with torch.autocast("cuda", dtype):
        assert explain(cell, xs).choices[0].executor == "cuda"
        assert scan(cell, xs)[0].dtype == dtype
    assert explain(cell, xs).choices[0].executor == "codegen"


def test_runs_are_the_same_bit_for_bit():
    torch.manual_seed(0)
    cell, xs = LSTM(64, 256).cuda(), torch.randn(32, 40, 64, device="cuda")

    def run():
        with torch.autocast("cuda", torch.float16):
            ys, _ = scan(cell, xs, executor="cuda")
        return ys, *torch.autograd.grad(ys.float().square().sum(), [*cell.parameters()])

    first = run()
    for _ in range(50):
        assert all(torch.equal(a, b) for a, b in zip(first, run(), strict=True))


def test_more_rows_than_the_chip_has_room_for_are_taken_in_turns():
    cell, xs = LSTM(16, 512).cuda(), torch.randn(700, 3, 16, device="cuda")
    with torch.no_grad(), torch.autocast("cuda", torch.float16):
        expected = scan(cell, xs, executor="loop")[0].double()
        execution = Execution.begin(xs, None)
        program = CudaProgram(shape_of(cell, execution), *[Tiling(16, 8, False)] * 2)  # 8 groups at once, of 88
        found = run_program(cell, xs, cell.initial(xs), execution, program)[0].double()
    assert (found - expected).norm() / expected.norm() < 2e-3


TILED = {name: CELLS[name] for name in ("wide lstm", "wide gru", "mogrifier", "lstm of heads")} | {
    "two rounds": lambda: Mogrifier(LSTM(40, 72), rounds=2),
    "thin rounds": lambda: Mogrifier(LSTM(40, 136), rounds=4, rank=8),
}
TILINGS = [
    Tiling(blocks, rows, cluster, across, resident, split)
    for blocks, rows, cluster in ((4, 8, False), (4, 16, True), (8, 32, True), (3, 24, False))
    for across, resident, split in ((1, 1, False), (4, 2, True), (2, 1, True), (2, 2, False))
]


def fits(shape, tiling, chip):
    kernels = (print_kernel(shape, tiling, backward=backward, ragged=False) for backward in (False, True))
    return max(kernel.shared_bytes for kernel in kernels) <= chip.shared_bytes


@pytest.mark.parametrize("name", TILED)
def test_every_tiling_computes_the_same(name):
    torch.manual_seed(0)
    cell, xs = TILED[name]().cuda(), torch.randn(45, 12, TILED[name]().input_size, device="cuda")
    weights = [*cell.parameters()]

    def outcome(ys):
        return [ys, *torch.autograd.grad(ys.float().square().sum(), weights)]

    with torch.autocast("cuda", torch.float16):
        expected = [t.double() for t in outcome(scan(cell, xs, executor="loop")[0])]
        execution = Execution.begin(xs, None)
        shape = shape_of(cell, execution)
        fitting = [tiling for tiling in TILINGS if fits(shape, tiling, find_chip(xs.device))]
        assert len(fitting) >= 4
        for tiling in fitting:
            program = CudaProgram(shape, tiling, tiling)
            found = outcome(run_program(cell, xs, cell.initial(xs), execution, program)[0])
            assert distance(found, expected) < 4e-3, tiling


@pytest.mark.parametrize(("dtype", "bound"), [(torch.float16, 3e-4), (torch.bfloat16, 2.5e-3)])
def test_gradients_of_the_input_and_its_matrix_are_rounded_once(dtype, bound):
    torch.manual_seed(0)
    cell, xs = LSTM(128, 256).cuda(), torch.randn(32, 128, 128, device="cuda").to(dtype).float()
    for weight in cell.parameters():
        weight.data = weight.data.to(dtype).float()
    seed = torch.randn(32, 128, 256, device="cuda").to(dtype)

    def gradients(cell, xs, executor):
        xs = xs.clone().requires_grad_()
        ys, _ = scan(cell, xs, executor=executor)
        return torch.autograd.grad(ys, [xs, cell.W, cell.b], seed.to(ys.dtype))

    with torch.autocast("cuda", dtype):
        found = gradients(cell, xs, "cuda")
    exact = gradients(copy.deepcopy(cell).double(), xs.double(), "codegen")
    assert distance(found, exact) < bound


def test_a_recorded_stack_of_kernels_is_not_cut_into_pieces():
    stack = Stacked([GRU(64, 128), GRU(128, 128)]).cuda()
    xs = torch.randn(8, 20, 64, device="cuda")
    with recording():
        assert worthwhile(stack, xs, Execution.begin(xs, None))
        with torch.autocast("cuda", torch.float16):
            assert not worthwhile(stack, xs, Execution.begin(xs, None))


def test_a_graph_captured_by_hand_takes_what_is_faster_recorded(monkeypatch):
    cell, xs = LSTM(64, 128).cuda(), torch.randn(8, 20, 64, device="cuda")
    with torch.autocast("cuda", torch.float16):
        scan(cell, xs)
        shape = shape_of(cell, Execution.begin(xs, None))
        (known,) = [found for (key, *_), found in contest._found.items() if key == shape]
        monkeypatch.setitem(known, "launched", True)
        monkeypatch.setitem(known, "recorded", False)
        assert explain(cell, xs).choices[0].executor == "torch"
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            assert explain(cell, xs).choices[0].executor == "cuda"


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("lengths", [(4, 4, 4), (4, 1, 3)])
def test_second_derivatives_are_those_of_plain_steps(lengths, bias):
    cell, xs = GRU(8, 16, bias=bias).cuda(), torch.randn(3, 4, 8, device="cuda", requires_grad=True)
    mask = torch.arange(4, device="cuda") < torch.tensor(lengths, device="cuda")[:, None]

    def penalize(executor):
        with torch.autocast("cuda", torch.float16):
            ys, _ = scan(cell, xs, mask, executor=executor)
        (dx,) = torch.autograd.grad(ys.float().square().sum(), xs, create_graph=True)
        return torch.autograd.grad(dx.square().sum(), [*cell.parameters(), xs])

    for found, expected in zip(penalize("cuda"), penalize("loop"), strict=True):
        assert (found - expected).norm() <= 1e-2 * expected.norm()
