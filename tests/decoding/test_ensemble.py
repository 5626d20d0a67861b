"""Several models as one step."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.decoding import AtTokens, Beam, ensemble
from elman.errors import ConfigError
from tests.decoding.tables import END, table

STOP = AtTokens((END,))


@given(seed=st.integers(0, 10_000))
def test_an_ensemble_of_one_is_the_model(seed):
    model = table(seed, size=5, sentences=2)
    beam = Beam(width=3, n_best=3)
    arguments = {"start": model.start, "stop": STOP, "limit": 5}
    alone = beam(model.step, model.state, **arguments)
    joined = beam(ensemble([model.step]), (model.state,), **arguments)
    for one, other in zip(alone, joined, strict=True):
        assert [h.tokens for h in one] == [h.tokens for h in other]
        assert [h.score for h in one] == pytest.approx([h.score for h in other])


@given(seed=st.integers(0, 10_000))
def test_probabilities_are_averaged(seed):
    models = [table(seed, sentences=2), table(seed + 1, sentences=2)]
    _, logits = ensemble([m.step for m in models])(tuple(m.state for m in models), models[0].start)
    for b in range(2):
        pairs = zip(*(m.next(b, 3) for m in models), strict=True)
        assert logits[b].exp().tolist() == pytest.approx([(p + q) / 2 for p, q in pairs])


def test_what_one_model_finds_impossible_the_others_may_still_write():
    def sure(state, tokens):
        return state, torch.tensor([[0.0, -torch.inf]])

    def other(state, tokens):
        return state, torch.tensor([[-torch.inf, 0.0]])

    state = torch.zeros(1)
    _, logits = ensemble([sure, other])((state, state), torch.tensor([0]))
    torch.testing.assert_close(logits.exp(), torch.tensor([[0.5, 0.5]]))


def test_the_state_of_each_model_goes_its_own_way():
    models = [table(3, sentences=2), table(4, sentences=2)]
    tokens = torch.tensor([3, 0])
    states, _ = ensemble([m.step for m in models])(tuple(m.state for m in models), tokens)
    assert [state.context.tolist() for state in states] == [[4, 1], [4, 1]]


def test_impossible_ensembles_are_refused():
    with pytest.raises(ConfigError, match="at least one"):
        ensemble([])
    with pytest.raises(ConfigError, match="2 models were given 1 states"):
        ensemble([table(0).step, table(1).step])((table(0).state,), torch.tensor([2]))
