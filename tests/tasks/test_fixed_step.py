"""The step of a language model that a GPU records is its step."""

import pytest
import torch

from elman.decoding.interfaces import FixedStep
from elman.state import leaves
from elman.tasks.language_model.config import LanguageModelConfig
from elman.tasks.language_model.network import LanguageModelNetwork


def make(**options) -> LanguageModelNetwork:
    torch.manual_seed(0)
    return LanguageModelNetwork(LanguageModelConfig(**{"embedding": 6, "hidden": 8, **options}), 30).eval()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"cell": "gru", "layers": 3, "embedding": 8, "residual": True},
        {"cell": "elman", "tied": False, "dropout": 0.5},
        {"weight_drop": 0.5, "zoneout": 0.1},
        {"mogrifier_rounds": 2, "mixtures": 3},
        {"cell": "mingru", "layers": 1},
    ],
    ids=str,
)
def test_it_is_the_step_of_the_network(options):
    net = make(**options)
    fixed = net.fixed_step()
    assert isinstance(fixed, FixedStep)
    state = other = net.begin(3)
    with torch.no_grad():
        for _ in range(4):
            tokens = torch.randint(30, (3,))
            state, logits = net.step(state, tokens)
            other, found = fixed(other, tokens)
            torch.testing.assert_close(found, logits, rtol=1e-5, atol=1e-5)
    for (name, a), (_, b) in zip(leaves(state), leaves(other), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5, msg=name)


def test_what_cannot_be_recorded_says_why():
    assert make(softmax="adaptive", tied=False, cutoffs=(5,)).fixed_step() == (
        "AdaptiveSoftmax has shapes that depend on the tokens"
    )
    assert make().double().fixed_step() == "kernels for rows of logits have 32 bits"
