"""Every weight of a network is told once, under the name it is stored by."""

import pytest
import torch
from torch import nn

from elman.cells import GRU, LSTM, Mogrifier, WeightDrop, count_parameters
from elman.inspect.summary import cell_equations, summarize_layers
from elman.layers.embedding import Pretrained, PretrainedEmbedding
from elman.layers.rnn import RNN
from tests.inspect.models import classifier, lm, tagger

MODELS = {
    "classifier": lambda: classifier(pool="attention", layers=2, mlp=3),
    "bag": lambda: classifier(encoder="bag"),
    "crf": lambda: tagger("crf", characters="lstm", affixes=2, casing=True),
    "autoregressive": lambda: tagger("autoregressive", characters="cnn"),
    "lm": lm,
}


@pytest.mark.parametrize("name", MODELS)
def test_the_parameters_of_all_layers_are_those_of_the_network(name):
    net = MODELS[name]().net
    found = summarize_layers(net)
    assert sum(layer.parameters for layer in found) == count_parameters(net)
    told = sorted(shape for layer in found for shape in layer.weights.values())
    assert told == sorted(tuple(weight.shape) for weight in net.parameters())


@pytest.mark.parametrize("name", MODELS)
def test_a_layer_has_the_name_that_its_weights_begin_with(name):
    net = MODELS[name]().net
    stored = net.state_dict()
    for layer in summarize_layers(net):
        for weight, shape in layer.weights.items():
            endings = [key for key in stored if key.startswith(f"{layer.name}.")]
            assert any(key.endswith(f".{weight}") and tuple(stored[key].shape) == shape for key in endings)


def test_vectors_that_are_not_trained_are_told_but_not_counted():
    trained = torch.tensor([False, True, False, False])
    vectors = Pretrained(torch.randn(4, 3), torch.ones(4, dtype=torch.bool), trained)
    (layer,) = summarize_layers(torch.nn.ModuleDict({"words": PretrainedEmbedding(vectors)}))
    assert (layer.name, layer.kind, layer.parameters) == ("words", "PretrainedEmbedding", 3)
    assert (layer.weights, layer.fixed) == ({"own": (1, 3)}, {"given": (3, 3)})


def test_formulas_are_those_of_the_cells():
    assert cell_equations(lm().net) == {"LSTM": LSTM(3, 4).equations()}
    assert cell_equations(classifier(encoder="bag").net) == {}


def test_what_changes_a_formula_shows_its_own() -> None:
    gated = Mogrifier(WeightDrop(LSTM(3, 4), 0.5), rounds=2)
    shown = cell_equations(nn.ModuleList([RNN(gated), RNN(WeightDrop(GRU(4, 4), 0.5))]))
    assert shown == {"Mogrifier": gated.equations(), "GRU": GRU(4, 4).equations()}
    assert shown["Mogrifier"][:2] == ["x = 2 ⊙ σ(Q_1 h) ⊙ x", "h = 2 ⊙ σ(R_2 x) ⊙ h"]
