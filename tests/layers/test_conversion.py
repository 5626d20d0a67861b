"""Weights from and to torch.nn: exact where the formulas agree, refused and harmless where they do not."""

import pytest
import torch
from torch import nn

from elman.cells import (
    GRU,
    LSTM,
    BoundedLSTM,
    CoupledLSTM,
    Dropout,
    Elman,
    FormulaCell,
    PeepholeLSTM,
    ProjectedLSTM,
    ReLUElman,
    ResetAfterGRU,
    Stacked,
)
from elman.errors import ModelError
from elman.layers import MERGES, RNN, BiRNN, StackedRNN, from_torch, to_torch
from tests.cells.test_own_cell import lstm_by_hand

pytestmark = pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN")

D, H, C = 3, 4, 6
KINDS = {
    "RNN tanh": (Elman, nn.RNN, {}),
    "RNN relu": (ReLUElman, nn.RNN, {"nonlinearity": "relu"}),
    "LSTM": (LSTM, nn.LSTM, {}),
    "LSTM projected": (lambda d, h, **k: ProjectedLSTM(d, h, cell_size=C, **k), nn.LSTM, {"proj_size": H}),
    "GRU": (ResetAfterGRU, nn.GRU, {}),
}
each_kind = pytest.mark.parametrize("kind", KINDS)
each_depth = pytest.mark.parametrize("depth", [1, 2, 3])
each_way = pytest.mark.parametrize("ways", [1, 2], ids=["one way", "both ways"])
with_and_without = pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])


def pair(kind, depth, ways, bias):
    """A layer of ours and the module of torch that has its shape, both random, in float64."""
    cell, module, options = KINDS[kind]
    hidden = C if "proj_size" in options else H

    def level(width):
        if ways == 2:
            return BiRNN(cell(width, H, bias=bias), cell(width, H, bias=bias))
        return RNN(cell(width, H, bias=bias))

    ours = StackedRNN([level(D if k == 0 else ways * H) for k in range(depth)])
    options = options | {"bias": bias, "bidirectional": ways == 2, "batch_first": True}
    theirs = module(D, hidden, num_layers=depth, **options)
    for weight in [*ours.parameters(), *theirs.parameters()]:
        nn.init.normal_(weight, std=0.6)
    return ours.double(), theirs.double()


def assert_same(ours, theirs):
    xs = torch.randn(2, 5, D, dtype=torch.float64)
    torch.testing.assert_close(ours(xs)[0], theirs(xs)[0], rtol=1e-10, atol=1e-10)


@each_kind
@each_depth
@each_way
@with_and_without
def test_weights_go_both_ways(kind, depth, ways, bias):
    ours, theirs = pair(kind, depth, ways, bias)
    given = {name: tensor.clone() for name, tensor in theirs.state_dict().items()}
    from_torch(ours, given)
    assert_same(ours, theirs)
    back = to_torch(ours)
    theirs.load_state_dict(back)  # strict: the same names and shapes
    assert_same(ours, theirs)
    before = {name: tensor.clone() for name, tensor in ours.state_dict().items()}
    from_torch(ours, back)
    for name, tensor in ours.state_dict().items():
        torch.testing.assert_close(tensor, before[name], rtol=0, atol=0)


@each_kind
def test_our_weights_go_to_torch(kind):
    ours, theirs = pair(kind, 2, 2, True)
    theirs.load_state_dict(to_torch(ours))
    assert_same(ours, theirs)


@each_depth
def test_a_stack_of_cells_is_torchs_stack_of_layers(depth):
    ours = RNN(Stacked([LSTM(D if k == 0 else H, H) for k in range(depth)])).double()
    theirs = nn.LSTM(D, H, num_layers=depth, batch_first=True).double()
    from_torch(ours, theirs.state_dict())
    assert_same(ours, theirs)


def test_permuted_gates_find_their_rows():
    ours = RNN(FormulaCell(lstm_by_hand, D, H)).double()
    theirs = nn.LSTM(D, H, batch_first=True).double()
    from_torch(ours, theirs.state_dict())
    assert_same(ours, theirs)
    for weight in ours.parameters():
        nn.init.normal_(weight)
    theirs.load_state_dict(to_torch(ours))
    assert_same(ours, theirs)


def test_what_is_given_away_is_a_copy():
    ours = RNN(LSTM(D, H))
    weights = to_torch(ours)
    before = ours.cell.W.detach().clone()
    for tensor in weights.values():
        tensor.zero_()
    assert torch.equal(ours.cell.W, before)


@pytest.mark.parametrize(
    ("layer", "sentence"),
    [
        (RNN(GRU(D, H)), "torch.nn computes another formula than 'gru': r = σ(W_r x"),
        (RNN(BoundedLSTM(D, H)), "torch.nn computes another formula than 'bounded_lstm': i = σ(W_i x"),
        (RNN(CoupledLSTM(D, H)), "torch.nn computes another formula than 'coupled_lstm': f = σ(W_f x"),
        (RNN(PeepholeLSTM(D, H)), "torch.nn computes another formula than 'peephole_lstm': i = σ("),
        (RNN(Dropout(LSTM(D, H), 0.5)), "torch.nn has no Dropout"),
        (StackedRNN([RNN(LSTM(D, H)), RNN(GRU(H, H))]), "torch.nn computes another formula than 'gru'"),
        (RNN(LSTM(D, H), reverse=True), "torch.nn reads forwards, or both ways with concatenated"),
        (
            BiRNN(LSTM(D, H), LSTM(D, H), merge=MERGES["sum"]),
            "torch.nn reads forwards, or both ways with concatenated outputs, and nothing else",
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, nn.Module) else "",
)
def test_what_torch_cannot_compute_is_refused_both_ways(layer, sentence):
    module = nn.LSTM(D, H, batch_first=True)
    for convert in (to_torch, lambda layer: from_torch(layer, module.state_dict())):
        said = unsupported_reason(layer, convert)
        assert said.startswith(sentence)


def test_a_missing_weight_is_named():
    ours, theirs = pair("LSTM", 2, 1, True)
    weights = theirs.state_dict()
    del weights["bias_hh_l1"]
    assert unsupported_reason(ours, lambda layer: from_torch(layer, weights)) == (
        "the state dict has no 'bias_hh_l1', which this layer needs"
    )


def test_a_weight_of_another_shape_is_named():
    ours, _ = pair("LSTM", 2, 1, True)
    weights = nn.LSTM(D, H + 1, num_layers=2).state_dict()
    assert unsupported_reason(ours, lambda layer: from_torch(layer, weights)) == (
        "'weight_ih_l0' is (20, 3), the layer needs (16, 3)"
    )


@pytest.mark.parametrize(
    ("more", "name"),
    [({"num_layers": 2}, "bias_hh_l1"), ({"bidirectional": True}, "bias_hh_l0_reverse")],
    ids=["a layer", "a direction"],
)
def test_a_weight_without_a_place_is_named(more, name):
    ours, _ = pair("LSTM", 1, 1, True)
    weights = nn.LSTM(D, H, **more).state_dict()
    assert unsupported_reason(ours, lambda layer: from_torch(layer, weights)) == (
        f"the state dict has {name!r}, for which this layer has no place"
    )


def test_biases_that_have_no_place_are_not_dropped():
    ours, _ = pair("LSTM", 1, 1, False)
    weights = nn.LSTM(D, H).state_dict()
    assert unsupported_reason(ours, lambda layer: from_torch(layer, weights)) == (
        "the state dict has 'bias_hh_l0', for which this layer has no place"
    )


def unsupported_reason(layer, convert) -> str:
    """The sentence; the layer stays as it was."""
    before = {name: tensor.clone() for name, tensor in layer.state_dict().items()}
    with pytest.raises(ModelError) as refused:
        convert(layer)
    assert all(torch.equal(tensor, before[n]) for n, tensor in layer.state_dict().items())
    assert "\n" not in str(refused.value)
    return str(refused.value)
