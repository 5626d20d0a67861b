"""A layer that knows the rows of a table computes what it computes of the vectors themselves."""

import pytest
import torch

from elman.cells import GRU, LSTM, Mogrifier, Stacked, Zoneout
from elman.layers import RNN, BiRNN
from elman.layers.embedding import Embedding
from elman.scan import scan, table_lookup

CELLS = {
    "lstm": lambda: LSTM(40, 33),
    "gru": lambda: GRU(40, 33),
    "noise": lambda: Zoneout(LSTM(40, 33), 0.5),
    "stack": lambda: Stacked([LSTM(40, 33), GRU(33, 35)]),
    "mixes its input": lambda: Mogrifier(LSTM(40, 33), rounds=2),
}


def outcome(read, modules):
    torch.manual_seed(3)
    ys = read()
    parameters = [p for module in modules for p in module.parameters()]
    gradients = torch.autograd.grad(ys, parameters, torch.randn(ys.shape).to(ys), allow_unused=True)
    return [ys, *(g for g in gradients if g is not None)]


def close(found, exact):
    return (found - exact).abs().max() <= 2e-6 * exact.abs().max()


@pytest.fixture
def ids():
    torch.manual_seed(0)
    ids = torch.randint(1, 20, (5, 30))
    ids[2, 9:] = ids[4, 1:] = 0
    return ids


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("executor", ["cpu", "codegen"])
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_values_and_gradients_are_those_of_the_vectors_in_float64(name, executor, padded, reverse, ids):
    cell, embed = CELLS[name](), Embedding(20, 40)
    embed.E.weight.data[0] = 1.0  # padding that counts would be seen
    mask, options = ids != 0 if padded else None, {"reverse": reverse, "executor": executor}
    found = outcome(lambda: scan(cell, embed.look_up(ids), mask, **options)[0], (embed, cell))
    if name != "noise":  # whose masks are drawn alike in one precision only
        cell, embed, options["executor"] = cell.double(), embed.double(), "codegen"
    exact = outcome(lambda: scan(cell, embed(ids), mask, **options)[0], (embed, cell))
    assert all(map(close, found, exact))
    assert not found[1][0].any()  # the row of the padding is not trained


def test_the_product_is_computed_for_the_rows_that_occur_alone(ids, monkeypatch):
    cell, embed, seen = LSTM(40, 33), Embedding(20, 40), []
    multiply = table_lookup.linear_large
    monkeypatch.setattr(
        table_lookup, "linear_large", lambda x, *affine: (seen.append(len(x)), multiply(x, *affine))[1]
    )
    scan(cell, embed.look_up(ids), executor="cpu")
    assert seen == [len(ids.unique())]
    scan(cell, embed.look_up(torch.tensor([[1, 2, 3, 4, 5, 6, 7, 1, 2, 3]])), executor="cpu")
    assert seen[1:] == [7]
    scan(cell, embed.look_up(torch.tensor([[1, 2, 3, 4, 5, 6, 7, 8, 2, 3]])), executor="cpu")  # few stand twice
    assert len(seen) == 2


def test_layers_read_rows_of_a_table_in_both_directions_and_second_derivatives_are_there(ids):
    embed, layer = Embedding(20, 40), BiRNN(LSTM(40, 33), GRU(40, 33))
    mask = ids != 0
    assert torch.allclose(layer(embed.look_up(ids), mask)[0], layer(embed(ids), mask)[0], atol=1e-6)
    ends = [layer.last_output(xs, mask) for xs in (embed.look_up(ids), embed(ids))]
    assert torch.allclose(*ends, atol=1e-6)
    cell = RNN(LSTM(40, 33), executor="cpu")

    def differentiate(xs):
        (dE,) = torch.autograd.grad(cell(xs)[0].square().sum(), embed.E.weight, create_graph=True)
        return torch.autograd.grad(dE.square().sum(), cell.cell.W)[0]

    assert torch.allclose(differentiate(embed.look_up(ids)), differentiate(embed(ids)), rtol=1e-3, atol=1e-4)


def test_a_lookup_says_nothing_of_the_outputs_of_a_layer(ids):
    """Only the input itself is looked up: what another layer made of it is no row of the table."""
    embed = Embedding(20, 40)
    lookup = embed.look_up(ids)
    assert torch.equal(lookup.xs, embed(ids))
    stack = Stacked([LSTM(40, 40), LSTM(40, 40)])
    assert torch.allclose(scan(stack, lookup)[0], scan(stack, embed(ids), executor="loop")[0], atol=1e-5)
