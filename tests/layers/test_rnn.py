"""RNN, BiRNN and layers of them, against hand computation."""

import pytest
import torch

from elman.cells import GRU, LSTM, Elman, Stacked
from elman.errors import ModelError
from elman.layers import MERGES, RNN, BiRNN, RecurrentLayer, StackedRNN, select_last
from elman.scan import scan
from elman.state import State, leaves

MASK = torch.tensor([[1, 1, 1, 1], [1, 0, 0, 0], [0, 0, 0, 0], [0, 1, 1, 0]], dtype=torch.bool)
LAST = [3, 0, None, 2]  # the last real place of each row,
FIRST = [0, 0, None, 1]  # and the first
HAND = {
    "concat": lambda f, b: torch.tensor([*f.tolist(), *b.tolist()]),
    "sum": lambda f, b: torch.tensor([x + y for x, y in zip(f.tolist(), b.tolist(), strict=True)]),
    "mean": lambda f, b: torch.tensor([(x + y) / 2 for x, y in zip(f.tolist(), b.tolist(), strict=True)]),
    "product": lambda f, b: torch.tensor([x * y for x, y in zip(f.tolist(), b.tolist(), strict=True)]),
}


def by_hand(cell, row):
    """Elman's y_1 … y_n of one sequence, number by number."""
    W, U, b = cell.W.tolist(), cell.U[0].tolist(), cell.b.tolist()
    h, ys = [0.0] * len(W), []
    for x in row.tolist():
        sums = [
            sum(w * v for w, v in zip(W[k], x, strict=True))
            + sum(u * v for u, v in zip(U[k], h, strict=True))
            + b[k]
            for k in range(len(W))
        ]
        h = [torch.tensor(a).tanh().item() for a in sums]
        ys.append(torch.tensor(h))
    return ys


def test_every_layer_is_recurrent():
    layers = [RNN(Elman(3, 4)), BiRNN(Elman(3, 4), Elman(3, 4)), StackedRNN([RNN(Elman(3, 4))])]
    assert all(isinstance(layer, RecurrentLayer) for layer in layers)
    assert [layer.output_size for layer in layers] == [4, 8, 4]


@pytest.mark.parametrize("merge", MERGES)
def test_a_birnn_merges_both_directions_at_each_step(merge):
    layer = BiRNN(Elman(2, 3), Elman(2, 3), merge=MERGES[merge])
    (row,) = xs = torch.randn(1, 4, 2)
    ahead = by_hand(layer.forward_rnn.cell, row)
    back = by_hand(layer.backward_rnn.cell, row.flip(0))[::-1]
    expected = torch.stack([HAND[merge](f, b) for f, b in zip(ahead, back, strict=True)])
    torch.testing.assert_close(layer(xs)[0][0], expected)
    torch.testing.assert_close(layer.last_output(xs)[0], HAND[merge](ahead[-1], back[0]))
    assert layer.output_size == expected.shape[1]


@pytest.mark.parametrize("executor", ["auto", "cpu", "torch", "codegen", "loop"])
def test_accepting_is_the_output_at_the_last_token(executor):
    layer = RNN(LSTM(2, 3), executor=executor)
    xs = torch.randn(4, 4, 2)
    ys, _ = layer(xs, MASK)
    for row, y in enumerate(layer.last_output(xs, MASK)):
        assert torch.equal(y, ys[row, LAST[row]] if LAST[row] is not None else torch.zeros(3))


def test_accepting_in_reverse_is_the_output_at_the_first_token():
    layer = RNN(LSTM(2, 3), reverse=True)
    xs = torch.randn(4, 4, 2)
    ys, _ = layer(xs, MASK)
    for row, y in enumerate(layer.last_output(xs, MASK)):
        assert torch.equal(y, ys[row, FIRST[row]] if FIRST[row] is not None else torch.zeros(3))


def test_a_birnn_accepts_the_forward_end_with_the_backward_beginning():
    layer = BiRNN(GRU(2, 3), LSTM(2, 5))
    xs = torch.randn(4, 4, 2)
    (ahead, _), (back, _) = layer.forward_rnn(xs, MASK), layer.backward_rnn(xs, MASK)
    for row, y in enumerate(layer.last_output(xs, MASK)):
        if LAST[row] is None:
            assert not y.any()
        else:
            assert torch.equal(y, torch.cat([ahead[row, LAST[row]], back[row, FIRST[row]]]))


@pytest.mark.parametrize("cells", [(LSTM, GRU), (GRU, LSTM)])
def test_the_executor_is_that_of_both_directions(cells):
    """PyTorch has no kernel for our GRU, so it can run neither this pair nor that."""
    ahead, back = cells
    layer = BiRNN(ahead(2, 3), back(2, 3), executor="torch")
    with pytest.raises(ModelError, match="PyTorch has no kernel for the formula 'gru'"):
        layer(torch.randn(1, 4, 2))


def test_last_without_a_mask_is_the_end_or_the_beginning():
    ys = torch.randn(2, 4, 3)
    assert torch.equal(select_last(ys, None), ys[:, 3])
    assert torch.equal(select_last(ys, None, reverse=True), ys[:, 0])


@pytest.mark.parametrize("merge", MERGES)
def test_padding_is_inert_in_both_directions(merge):
    layer = BiRNN(LSTM(2, 3), GRU(2, 3), merge=MERGES[merge])
    xs = torch.randn(4, 4, 2)
    padded, _ = layer(xs, MASK)
    alone, _ = layer(xs[3:, 1:3])
    torch.testing.assert_close(padded[3:, 1:3], alone)
    assert not padded[~MASK].any()


def test_layers_read_the_outputs_of_those_below():
    below, above = BiRNN(LSTM(2, 3), LSTM(2, 3)), RNN(GRU(6, 4), reverse=True)
    layer = StackedRNN([below, above])
    xs = torch.randn(4, 4, 2)
    middle, s = below(xs, MASK)
    top, r = above(middle, MASK)
    ys, state = layer(xs, MASK)
    torch.testing.assert_close(ys, top)
    torch.testing.assert_close(dict(leaves(state)), dict(leaves((s, r))))
    torch.testing.assert_close(layer.last_output(xs, MASK), above.last_output(middle, MASK))
    assert (layer.input_size, layer.output_size) == (2, 4)


def test_layers_of_rnns_are_an_rnn_of_a_stack():
    cells = [LSTM(2, 3), GRU(3, 5), Elman(5, 4)]
    xs = torch.randn(4, 4, 2)
    layered, stacked = StackedRNN([RNN(cell) for cell in cells]), RNN(Stacked(cells))
    torch.testing.assert_close(layered(xs, MASK)[0], stacked(xs, MASK)[0])
    torch.testing.assert_close(layered.last_output(xs, MASK), stacked.last_output(xs, MASK))


def test_initial_states_reach_every_direction_and_layer():
    layer = StackedRNN([BiRNN(Elman(2, 3), Elman(2, 3)), RNN(Elman(6, 4))])
    xs = torch.randn(2, 5, 2)
    given = ((State(h=torch.randn(2, 3)), State(h=torch.randn(2, 3))), State(h=torch.randn(2, 4)))
    (forward, backward), top = given
    ahead, s = scan(layer.stack[0].forward_rnn.cell, xs, state=forward)
    back, r = scan(layer.stack[0].backward_rnn.cell, xs, state=backward, reverse=True)
    expected, t = scan(layer.stack[1].cell, torch.cat([ahead, back], -1), state=top)
    ys, final = layer(xs, state=given)
    torch.testing.assert_close(ys, expected)
    torch.testing.assert_close(dict(leaves(final)), dict(leaves(((s, r), t))))
    torch.testing.assert_close(layer.last_output(xs, state=given), expected[:, -1])


def test_the_loss_on_one_output_reaches_every_real_token_and_no_padding():
    layer = BiRNN(LSTM(2, 3), LSTM(2, 3))
    xs = torch.randn(4, 4, 2, requires_grad=True)
    layer.last_output(xs, MASK).sum().backward()
    assert torch.equal(xs.grad.abs().sum(-1) > 0, MASK)


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (
            lambda: BiRNN(Elman(3, 4), Elman(2, 4)),
            "both directions read the same input, but one cell reads 3 features and the other 2",
        ),
        (
            lambda: BiRNN(Elman(3, 4), Elman(3, 5), merge=MERGES["sum"]),
            "outputs of 4 and 5 features can only be concatenated",
        ),
        (lambda: StackedRNN([]), "a stack needs at least one layer"),
    ],
)
def test_what_does_not_fit_together_is_said_in_a_sentence(build, sentence):
    with pytest.raises(ModelError) as refused:
        build()
    assert str(refused.value) == sentence
