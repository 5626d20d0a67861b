"""Every executor computes what the reference loop computes: values and all gradients."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.cells import FormulaCell, Formulaic, Zoneout
from elman.errors import ModelError
from elman.formula import State, formula, sigmoid, tanh
from elman.formula.structure import LINEAR, POINTWISE, find_structure
from elman.scan import EXECUTORS, scan
from elman.state import leaves, map_state
from tests.zoo import ALL, FORMULAS, cell_of

TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5}
DTYPES = {name: torch.float32 if name == "cpu" else torch.float64 for name in EXECUTORS}
HERE = {name: "ssru" if name == "parallel" else "lstm" for name in EXECUTORS if name != "cuda"}
"""The executors that run without a GPU, each with a cell that it runs."""
RAGGED = [
    None,
    [[1, 1, 0, 0, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1], [1, 1, 1, 0, 0]],
    [[0, 1, 1, 0, 1], [1, 0, 0, 1, 1], [0, 0, 1, 0, 0], [1, 1, 1, 1, 1]],
]
NAMES = ["full", "ragged with an empty row", "holes"]
UNPRINTED = {"wordy", *(name for name in ALL if "heads" in name)}  # a softmax, matrices of blocks


def accepts(executor, cell):
    """Can this executor run the cell, or all its parts?"""
    try:
        nothing = torch.zeros(1, 1, cell.input_size, dtype=next(cell.parameters()).dtype)
        scan(cell, nothing, executor=executor)
    except ModelError as error:
        if "executor cannot run this cell" not in str(error):
            raise
        return False
    return True


def outcome(cell, xs, mask, state, **options):
    """Outputs, final state, and the gradients of a random sum of them to everything."""
    torch.manual_seed(1)
    ys, final = scan(cell, xs, mask, state, **options)
    parts = [ys, *(t for _, t in leaves(final))]
    torch.manual_seed(2)
    loss = sum((part * torch.randn(part.shape, dtype=part.dtype)).sum() for part in parts)
    inputs = [xs, *(t for _, t in leaves(state)), *cell.parameters()]
    return parts, torch.autograd.grad(loss, inputs, allow_unused=True)


def inputs(cell, dtype, rows=4, steps=5):
    xs = torch.randn(rows, steps, 3, dtype=dtype, requires_grad=True)
    state = map_state(lambda t: torch.randn_like(t).requires_grad_(), cell.initial(xs))
    return xs, state


def assert_same(ours, theirs, tolerance):
    for a, b in pairs(ours, theirs):
        torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)


def pairs(ours, theirs):
    """Outcomes side by side: outputs, final states, gradients."""
    for a, b in zip([*ours[0], *ours[1]], [*theirs[0], *theirs[1]], strict=True):
        if a is None or b is None:  # no gradient is a gradient of zero
            assert not any(g.any() for g in (a, b) if g is not None)
        else:
            yield a, b


@pytest.mark.parametrize("dtype", TOLERANCE, ids=["float64", "float32"])
@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reverse"])
@pytest.mark.parametrize("mask", RAGGED, ids=NAMES)
@pytest.mark.parametrize("executor", ["parallel", "torch", "cpu", "codegen", "auto"])
@pytest.mark.parametrize("name", ALL)
def test_an_executor_equals_the_loop(name, executor, mask, reverse, dtype):
    cell = cell_of(name, dtype)
    if not accepts(executor, cell):
        printed = dtype is torch.float32 and name not in UNPRINTED
        assert executor == "torch" or (executor == "cpu" and not printed) or _is_no_scan(executor, cell, dtype)
        return
    xs, state = inputs(cell, dtype)
    mask = None if mask is None else torch.tensor(mask, dtype=torch.bool)
    reference = outcome(cell, xs, mask, state, reverse=reverse, executor="loop")
    ours = outcome(cell, xs, mask, state, reverse=reverse, executor=executor)
    assert_same(ours, reference, TOLERANCE[dtype])


def _is_no_scan(executor, cell, dtype):
    """Has it, or a part of it, matrices or a bent state in float64, which the parallel executor refuses?"""
    formulas = [part.formula for part in cell.modules() if isinstance(part, Formulaic)]
    runs = {LINEAR} if dtype is torch.float64 else {LINEAR, POINTWISE}
    return executor == "parallel" and not {find_structure(formula).kind for formula in formulas} <= runs


@given(st.lists(st.integers(0, 6), min_size=1, max_size=5), st.booleans(), st.sampled_from([*ALL]))
def test_any_lengths_give_the_same_by_every_executor(lengths, reverse, name):
    cell = cell_of(name)
    xs, state = inputs(cell, torch.float64, len(lengths), 6)
    mask = torch.arange(6) < torch.tensor(lengths)[:, None]
    reference = outcome(cell, xs, mask, state, reverse=reverse, executor="loop")
    for executor in EXECUTORS:
        if accepts(executor, cell):
            ours = outcome(cell, xs, mask, state, reverse=reverse, executor=executor)
            assert_same(ours, reference, 1e-10)


def test_known_kernels_are_recognised_and_others_refused():
    known = {n for n in FORMULAS if accepts("torch", cell_of(n))}
    assert known == {
        "elman",
        "relu",
        "lstm",
        "projected-lstm",
        "reset-after-gru",
        "elman without bias",
        "lstm without bias",
        "reset-after-gru without bias",
    }


class TiedZoneout(Zoneout):
    """Masks that depend on the input, so that executors which lay tokens out otherwise draw the same."""

    def project(self, x):
        gates, *masks = super().project(x)
        return gates, *((x.sum(-1, keepdim=True) > 0).to(m).expand_as(m) for m in masks)


def test_zoneout_with_drawn_masks_equals_the_loop():
    cell = TiedZoneout(cell_of("lstm"), 0.5)
    xs, state = inputs(cell, torch.float64)
    mask = torch.tensor(RAGGED[1], dtype=torch.bool)
    ours = outcome(cell, xs, mask, state, executor="codegen")
    assert_same(ours, outcome(cell, xs, mask, state, executor="loop"), 1e-10)


@pytest.mark.parametrize("executor", HERE)
def test_no_token_at_all_leaves_the_state_alone(executor):
    cell = cell_of(HERE[executor], DTYPES[executor])
    xs, state = inputs(cell, DTYPES[executor])
    ys, final = scan(cell, xs, torch.zeros(4, 5, dtype=torch.bool), state, executor=executor)
    assert ys.shape == (4, 5, 4)
    assert not ys.any()
    assert all(torch.equal(a, b) for a, b in zip(final, state, strict=True))
    ys, final = scan(cell, xs[:, :0], None, state, executor=executor)
    assert ys.shape == (4, 0, 4)
    assert torch.equal(final.c, state.c)


@pytest.mark.parametrize("executor", ["auto", "loop"])
@pytest.mark.parametrize("name", ["residual", "stack", "mogrifier of zoneout"])
def test_no_step_leaves_all_states_of_a_compound_alone(name, executor):
    cell = cell_of(name)
    xs, state = inputs(cell, torch.float64)
    ys, final = scan(cell, xs[:, :0], None, state, executor=executor)
    assert ys.shape == (4, 0, 4)
    for (_, ours), (_, begun) in zip(leaves(final), leaves(state), strict=True):
        assert torch.equal(ours, begun)


@pytest.mark.parametrize("executor", HERE)
def test_nan_in_the_padding_reaches_nothing(executor):
    cell = cell_of(HERE[executor], DTYPES[executor])
    mask = torch.tensor(RAGGED[1], dtype=torch.bool)
    clean = torch.randn(4, 5, 3, dtype=DTYPES[executor])
    dirty = clean.masked_fill(~mask[..., None], float("nan")).requires_grad_()
    state = cell.initial(clean)
    parts, grads = outcome(cell, dirty, mask, state_of(state), executor=executor)
    wanted, _ = outcome(cell, clean.requires_grad_(), mask, state_of(state), executor=executor)
    for a, b in zip(parts, wanted, strict=True):
        torch.testing.assert_close(a, b)
    assert all(torch.isfinite(g).all() for g in grads)
    assert not grads[0][~mask].any()


def state_of(state):
    return map_state(lambda t: t.clone().requires_grad_(), state)


REAL = ["elman", "lstm", "gru", "projected-lstm", "ssru", "lstm of two heads", "wordy", "zoneout", "mogrifier"]


@pytest.mark.parametrize("lengths", [None, torch.arange(64) + 2], ids=["full", "ragged"])
@pytest.mark.parametrize("executor", [*HERE, "auto"])
@pytest.mark.parametrize("name", REAL)
def test_an_executor_equals_the_loop_at_the_sizes_of_a_real_model(name, executor, lengths):
    """Large products and large memory come from elsewhere than small ones, and executors write over them."""
    cell = cell_of(name, torch.float32, 64, 64)
    if not accepts(executor, cell):
        assert executor in ("torch", "cpu", "parallel")
        return
    xs = torch.randn(64, 65, 64, requires_grad=True)
    state = map_state(lambda t: torch.randn_like(t).requires_grad_(), cell.initial(xs))
    mask = None if lengths is None else torch.arange(65) < lengths[:, None]
    reference = outcome(cell, xs, mask, state, executor="loop")
    ours = outcome(cell, xs, mask, state, executor=executor)
    for a, b in pairs(ours, reference):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-4 * b.abs().max().item())


@formula(gates="a b")
def deaf(x, U, s):
    """What gate b is told of the input is taken away again: its derivative is zero from the first."""
    return State(h=tanh(x.a + U.a(s.h)) * sigmoid((x.b + U.b(s.h)) - x.b))


@pytest.mark.parametrize("executor", ["cpu", "codegen", "auto"])
def test_a_gate_without_a_derivative_gets_no_gradient(executor):
    torch.manual_seed(3)
    cell = FormulaCell(deaf, 3, 4)
    xs, state = inputs(cell, torch.float32)
    mask = torch.tensor(RAGGED[1], dtype=torch.bool)
    ours = outcome(cell, xs, mask, state, executor=executor)
    assert_same(ours, outcome(cell, xs, mask, state, executor="loop"), 1e-5)
