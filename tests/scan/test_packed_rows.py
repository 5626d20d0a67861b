"""Layers that hand each other packed rows compute what the reference loop computes of the padded batch."""

from functools import partial

import pytest
import torch

from elman.cells import GRU, LSTM, SSRU, Dropout, Elman, Residual, Stacked, Zoneout
from elman.layers import RNN, BiRNN, StackedRNN
from elman.scan import scan
from elman.scan.packing import Packing
from elman.state import leaves, map_state

MASKS = {
    "an empty row": [[1, 1, 0, 0, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1], [1, 1, 1, 0, 0]],
    "holes": [[0, 1, 1, 0, 1], [1, 0, 0, 1, 1], [0, 0, 1, 0, 0], [1, 1, 1, 1, 1]],
}
WAYS = {
    "cpu": ("cpu", torch.float32),
    "codegen": ("codegen", torch.float64),
    "torch": ("torch", torch.float64),
    "auto": ("auto", torch.float32),
    "units": ("parallel", torch.float32),
    "scans": ("parallel", torch.float64),
}


class Doubling(Stacked):
    """A compound of one's own: what it reads of a batch is (B, T, D)."""

    def output(self, state):
        return 2 * super().output(state)

    def scan_parts(self, xs, state, run):
        assert xs.dim() == 3
        ys, end = super().scan_parts(xs, state, run)
        return 2 * ys, end


class Unscanned(Doubling):
    """The same without parts: only the loop runs it."""

    def scan_parts(self, xs, state, run):
        return None


CELLS = {  # and the ways that run all of their parts
    "stack": (lambda: Stacked([LSTM(3, 4), GRU(4, 5)]), "cpu codegen auto"),
    "dropout": (lambda: Stacked([Dropout(LSTM(3, 4), 0.5), Dropout(LSTM(4, 4), 0.5)]), "cpu codegen torch"),
    "residual": (lambda: Stacked([Residual(LSTM(3, 3)), Residual(LSTM(3, 3))]), "cpu codegen torch"),
    "units": (lambda: Stacked([SSRU(3, 4), Residual(SSRU(4, 4))]), "units scans codegen"),
    "all kinds": (
        lambda: Stacked(
            [Doubling([LSTM(3, 32)]), Residual(Unscanned([LSTM(32, 32)])), SSRU(32, 32), LSTM(32, 3)]
        ),
        "auto",
    ),
}


def outcome(run, xs, state, modules, seed=1):
    """Outputs, final states, and the gradients of a random sum of them to everything."""
    torch.manual_seed(seed)
    ys, final = run(xs, state)
    parts = [ys, *(t for _, t in leaves(final))]
    loss = sum((part * torch.linspace(-1, 1, part.numel()).view(part.shape).to(part)).sum() for part in parts)
    inputs = [xs, *(t for _, t in leaves(state)), *(p for module in modules for p in module.parameters())]
    return parts, torch.autograd.grad(loss, inputs)


def assert_same(found, expected, dtype):
    tolerance = 1e-10 if dtype is torch.float64 else 1e-5
    for a, b in zip([*found[0], *found[1]], [*expected[0], *expected[1]], strict=True):
        torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)


def begin(cell, xs):
    """A random state that has a gradient."""
    torch.manual_seed(2)
    return map_state(lambda t: torch.randn_like(t).requires_grad_(), cell.initial(xs))


def read_by_loop(layers, mask, adds):
    """Layers of two directions, one scan after the other over the padded batch, residual where it is said."""

    def run(xs, states):
        final = []
        for layer, state, added in zip(layers.stack, states, adds, strict=True):
            each = (layer.forward_rnn, False), (layer.backward_rnn, True)
            ends = [
                scan(rnn.cell, xs, mask, s, reverse=reverse, executor="loop")
                for (rnn, reverse), s in zip(each, state, strict=True)
            ]
            ys = torch.cat([ys for ys, _ in ends], -1)
            xs = xs + ys if added else ys
            final.append(tuple(end for _, end in ends))
        return xs, tuple(final)

    return run


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reverse"])
@pytest.mark.parametrize(
    ("name", "way"), [(name, way) for name, (_, ways) in CELLS.items() for way in ways.split()]
)
def test_a_stack_equals_the_loop(name, way, reverse, mask):
    (executor, dtype), mask = WAYS[way], torch.tensor(mask).bool()
    cell = CELLS[name][0]().to(dtype)
    xs = torch.randn(4, 5, 3, dtype=dtype, requires_grad=True)
    xs.data[~mask] = torch.nan
    found, expected = (
        outcome(partial(run_scan, cell, mask, reverse=reverse, executor=one), xs, begin(cell, xs), [cell])
        for one in (executor, "loop")
    )
    assert_same(found, expected, dtype)


def run_scan(cell, mask, xs, state, **options):
    return scan(cell, xs, mask, state, **options)


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("way", ["cpu", "codegen", "torch", "auto"])
def test_layers_of_two_directions_equal_the_loop(way, mask):
    (executor, dtype), mask = WAYS[way], torch.tensor(mask).bool()
    pairs = [[Dropout(LSTM(3, 3), 0.5), LSTM(3, 3)], [Residual(LSTM(6, 6)), Residual(LSTM(6, 6))]]
    pairs += [[LSTM(12, 6), Dropout(LSTM(12, 6), 0.5)]]
    layers = StackedRNN([BiRNN(*pair, executor=executor) for pair in pairs], residual=True).to(dtype)
    xs = torch.randn(4, 5, 3, dtype=dtype, requires_grad=True)
    states = tuple(tuple(begin(cell, xs) for cell in pair) for pair in pairs)
    found = outcome(lambda xs, s: layers(xs, mask, s), xs, states, [layers])
    expected = outcome(read_by_loop(layers, mask, [False, False, True]), xs, states, [layers])
    assert layers.adds == [False, False, True]
    assert_same(found, expected, dtype)


def test_gradients_are_those_of_finite_differences_twice():
    layers = StackedRNN([BiRNN(Elman(2, 2), SSRU(2, 2)), BiRNN(Elman(4, 2), Elman(4, 2))]).double()
    xs = torch.randn(3, 3, 2, dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([[1, 0, 1], [1, 1, 1], [0, 1, 0]]).bool()
    assert torch.autograd.gradcheck(lambda xs: layers(xs, mask)[0], xs)
    assert torch.autograd.gradgradcheck(lambda xs: layers(xs, mask)[0], xs)


def deep_layers():
    return StackedRNN([BiRNN(*(Dropout(LSTM(k, 4), 0.5) for _ in "ab")) for k in (8, 8, 8)], residual=True)


READERS = {
    "two directions": deep_layers,
    "a stack": lambda: RNN(Stacked([Dropout(LSTM(8, 8), 0.5), Residual(GRU(8, 8))])),
    "a stack in reverse": lambda: RNN(Stacked([LSTM(8, 8), Residual(GRU(8, 8))]), reverse=True),
    "units": lambda: StackedRNN([BiRNN(SSRU(8, 32), SSRU(8, 32)), BiRNN(SSRU(64, 32), SSRU(64, 32))]),
}


@pytest.mark.parametrize("name", READERS)
def test_a_batch_is_packed_once_and_unpacked_once(name, monkeypatch):
    layers, calls = READERS[name](), []
    for method in ("pack", "unpack"):
        whole = getattr(Packing, method)
        note = lambda self, t, method=method, whole=whole: (calls.append(method), whole(self, t))[1]  # noqa: E731
        monkeypatch.setattr(Packing, method, note)
    layers(torch.randn(4, 5, 8), torch.tensor(MASKS["holes"]).bool())
    assert calls == ["pack", "unpack"]


def test_noise_is_drawn_for_packed_tokens_as_for_padded_ones():
    pairs = [[Zoneout(LSTM(size, 32), 0.5) for _ in "ab"] for size in (3, 64)]
    xs, mask = torch.randn(4, 5, 3), torch.tensor(MASKS["holes"]).bool()
    torch.manual_seed(0)
    found, _ = StackedRNN([BiRNN(*pair) for pair in pairs])(xs, mask)
    torch.manual_seed(0)
    for ahead, back in pairs:
        xs = torch.cat([scan(ahead, xs, mask)[0], scan(back, xs, mask, reverse=True)[0]], -1)
    torch.testing.assert_close(found, xs)
