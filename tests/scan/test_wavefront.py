"""Layers that read pieces side by side give what one layer after the other gives."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.cells import GRU, LSTM, Dropout, Mogrifier, Residual, Stacked, WeightDrop
from elman.cuda_graph import recording
from elman.scan import executors, scan
from elman.scan.execution import Execution
from elman.scan.executors import Scanner
from elman.scan.executors.wavefront import diagonals, run_wavefront, worthwhile
from elman.state import leaves


@given(st.integers(1, 5), st.integers(1, 7))
def test_every_pair_comes_once_and_after_those_it_waits_for(layers, pieces):
    order = list(diagonals(layers, pieces))
    assert sorted(order) == [(layer, piece) for layer in range(layers) for piece in range(pieces)]
    done = set()
    for layer, piece in order:
        assert layer == 0 or (layer - 1, piece) in done
        assert piece == 0 or (layer, piece - 1) in done
        done.add((layer, piece))


def wavefront(cells, xs, state=None):
    stack = Stacked(cells).sample_masks(xs)
    begin = stack.initial(xs) if state is None else state
    return run_wavefront(stack.layers, xs, begin, Scanner(Execution.begin(xs, None)))


@pytest.mark.parametrize("begun", [False, True], ids=["from zero", "from a state"])
@pytest.mark.parametrize("steps", [1, 4, 5, 12])
def test_pieces_side_by_side_are_the_whole(steps, begun):
    torch.manual_seed(0)
    cells = [GRU(3, 4), Mogrifier(LSTM(4, 5), rounds=2), Residual(LSTM(5, 5))]
    stack = Stacked(cells).double()
    xs = torch.randn(2, steps, 3, dtype=torch.float64, requires_grad=True)
    state = scan(stack, xs)[1] if begun else None
    results = []
    for ys, final in (scan(stack, xs, None, state), wavefront(cells, xs, state)):
        loss = ys.square().sum() + sum(t.sin().sum() for _, t in leaves(final))
        gradients = torch.autograd.grad(loss, [xs, *stack.parameters()], retain_graph=True)
        results.append([ys, *(t for _, t in leaves(final)), *gradients])
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b)


def test_masks_are_drawn_once_for_all_pieces():
    torch.manual_seed(0)
    cells = [Dropout(WeightDrop(LSTM(3, 8), 0.5), 0.5), Dropout(WeightDrop(LSTM(8, 8), 0.5), 0.5)]
    torch.manual_seed(1)
    ys, _ = wavefront(cells, torch.randn(2, 10, 3))
    dropped = ys == 0
    assert 0 < dropped.float().mean() < 1
    assert (dropped == dropped[:, :1]).all()


def mogrified(size, width):
    return Dropout(Mogrifier(WeightDrop(LSTM(size, width), 0.5), rounds=2), 0.2)


def test_a_stack_goes_side_by_side_where_that_is_worthwhile(monkeypatch):
    """On a CPU nothing is gained; here it is done all the same."""
    asked = []
    monkeypatch.setattr(executors, "worthwhile", lambda cell, xs, _: asked.append(len(cell.layers)) or True)
    stack = Stacked([mogrified(3, 4), mogrified(4, 5)]).eval()
    xs = torch.randn(2, 9, 3)
    ours, _ = scan(stack, xs)
    monkeypatch.undo()
    torch.testing.assert_close(ours, scan(stack, xs)[0])
    assert asked == [2]


def test_it_is_worthwhile_where_a_recorded_stack_has_no_kernel_of_its_own():
    class OnGPU(torch.Tensor):
        is_cuda = True

    near = torch.zeros(1, 1, 3)
    far = near.as_subclass(OnGPU)
    slow, fast = Stacked([mogrified(3, 4), mogrified(4, 4)]), Stacked([LSTM(3, 4), LSTM(4, 4)])
    mask = torch.ones(1, 1, dtype=torch.bool)

    def asked(stack, xs, *about, **options):
        return worthwhile(stack, xs, Execution.begin(xs, *(about or (None,)), **options))

    assert not asked(slow, far)
    with recording():
        assert asked(slow, far)
        assert asked(slow.sample_masks(near), far)
        assert not asked(slow, near)
        assert not asked(Stacked(slow.layers[:1]), far)
        assert not asked(fast, far)
        assert not asked(slow, far, mask)
        assert not asked(slow, far, reverse=True)
        assert not asked(slow, far, executor="codegen")


def test_matrices_are_made_once_for_all_pieces(monkeypatch):
    calls = []
    real = Mogrifier.matrices
    monkeypatch.setattr(Mogrifier, "matrices", lambda cell: calls.append(cell) or real(cell))
    wavefront([Mogrifier(LSTM(3, 4)), Mogrifier(LSTM(4, 4))], torch.randn(2, 10, 3))
    assert len(calls) == 2
