"""The kernels of single units on a GPU equal the loop in float64: ragged, both ways, graphed, deterministic."""

import pytest
import torch

from elman.cells import CELLS, FormulaCell, Zoneout
from elman.formula import State, formula, sigmoid, tanh
from elman.scan import explain, scan
from elman.state import leaves, map_state

pytestmark = pytest.mark.gpu
NAMES = ["mingru", "minlstm", "rg-lru", "qrnn", "ssru", "hgrn", "sru", "indrnn", "para-gru", "own", "zoneout"]
PRECISE = {torch.float32: 2e-5, torch.float16: 3e-4, torch.bfloat16: 2.5e-3}


@formula(gates="a b", states="h k c", parameters="w", output="k")
def own(x, U, s, p):
    c = sigmoid(x.a) * s.c + x.b * p.w
    k = 0.9 * tanh(p.w) * s.k - s.c * x.a
    return State(h=c * s.k, k=k, c=c)


def make(name, width=200):
    torch.manual_seed(3)
    if name == "own":
        return FormulaCell(own, width, width).cuda()
    if name == "zoneout":
        return Zoneout(CELLS["mingru"](width, width), 0.3).eval().cuda()
    return CELLS[name](width, width).cuda()


def outcome(cell, xs, mask, state, **options):
    """Outputs, final state, and the gradients of one random sum of them to everything."""
    ys, final = scan(cell, xs, mask, state, **options)
    parts = [ys, *(t for _, t in leaves(final))]
    torch.manual_seed(2)
    loss = sum((part.double() * torch.randn(part.shape).to(xs.device).double()).sum() for part in parts)
    given = [xs, *(t for _, t in leaves(state)), *cell.parameters()]
    grads = torch.autograd.grad(loss / ys.shape[1], given, allow_unused=True, materialize_grads=True)
    return [t.detach().double() for t in (*parts, *grads)]


def error(ours, theirs):
    """Of each, the root of the mean square of its error, in units of that of its values."""
    return [((a - b).norm() / b.norm().clamp_min(1e-6)).item() for a, b in zip(ours, theirs, strict=True)]


@pytest.mark.parametrize("dtype", PRECISE, ids=str)
@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reverse"])
@pytest.mark.parametrize("ragged", [False, True], ids=["full", "ragged"])
@pytest.mark.parametrize("name", NAMES)
def test_kernels_equal_the_loop_in_float64(name, ragged, reverse, dtype):
    cell, rows, steps = make(name), 5, 300
    torch.manual_seed(1)
    for weight in cell.parameters():  # what is given is the same in all precisions
        weight.data = weight.data.to(dtype).float()
    xs = torch.randn(rows, steps, 200, device="cuda").to(dtype).float().requires_grad_()
    state = map_state(lambda t: (torch.randn_like(t) / 2).requires_grad_(), cell.initial(xs))
    lengths = torch.tensor([300, 0, 17, 255, 256], device="cuda")
    mask = torch.arange(steps, device="cuda") < lengths[:, None] if ragged else None
    with torch.autocast("cuda", dtype, enabled=dtype is not torch.float32):
        ours, plain = (
            outcome(cell, xs, mask, state, reverse=reverse, executor=executor)
            for executor in ("parallel", "loop")
        )
    wide = [t.detach().double().requires_grad_() for t in (xs, *state)]
    start = State(**dict(zip(cell.formula.states, wide[1:], strict=True)))
    theirs = outcome(cell.double(), wide[0], mask, start, reverse=reverse, executor="codegen")
    # What goes in and out in 16 bits is rounded in any case, by the loop too; on the way back twice
    # more: dX, and the product of it. A kink (relu) may be passed on the other side, a few times in all.
    kinks = 3 if name in ("ssru", "indrnn") else 1.5
    values = 1 + len(cell.formula.states)
    for i, (found, near) in enumerate(zip(error(ours, theirs), error(plain, theirs), strict=True)):
        assert found < max((1 if i < values else 2) * PRECISE[dtype], kinks * near)


def test_nothing_is_random():
    cell, xs = make("rg-lru"), torch.randn(8, 700, 200, device="cuda", requires_grad=True)
    state = map_state(lambda t: t.requires_grad_(), cell.initial(xs))
    runs = [outcome(cell, xs, None, state, executor="parallel")[:2] for _ in range(20)]
    assert all(torch.equal(a, b) for run in runs for a, b in zip(run, runs[0], strict=True))


def test_a_recorded_graph_replays_the_scan():
    cell, xs = make("mingru"), torch.randn(4, 100, 200, device="cuda")
    with torch.no_grad(), torch.autocast("cuda", torch.bfloat16):
        expected, _ = scan(cell, xs, executor="parallel")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            ys, _ = scan(cell, xs, executor="parallel")
        graph.replay()
    assert torch.equal(ys, expected)


def test_it_is_taken_on_a_gpu():
    with torch.no_grad():
        for name in ("mingru", "sru"):
            assert explain(make(name), torch.zeros(2, 9, 200, device="cuda")).choices[0].executor == "parallel"


def test_second_derivatives_go_by_plain_steps():
    cell = make("mingru", 40)
    xs = torch.randn(2, 6, 40, device="cuda", requires_grad=True)

    def penalty(executor):
        ys, _ = scan(cell, xs, executor=executor)
        (g,) = torch.autograd.grad(ys.square().sum(), xs, create_graph=True)
        return torch.autograd.grad(g.square().sum(), [xs, *cell.parameters()])

    for a, b in zip(penalty("parallel"), penalty("loop"), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-4)
