"""A network and n-grams mixed: the distribution by its definition, and which share makes tokens likeliest."""

import numpy as np
import pytest
import torch

from elman.layers.kneser_ney import KneserNey
from elman.layers.ngram_mixture import MixedOutput, MixtureCosts, NGramMixture, join_costs
from elman.layers.softmax import Softmax

V, H, FIRST = 6, 3, 0
IDS = np.random.default_rng(0).integers(1, V, 200)


@pytest.fixture
def mixture() -> NGramMixture:
    torch.manual_seed(0)
    made = NGramMixture(KneserNey.fit(IDS, V, order=3, first=FIRST))
    made.share.fill_(0.7)
    return made


def read(mixture: NGramMixture, ids: torch.Tensor, mask: torch.Tensor | None = None):
    """What a network says after each token, with the contexts behind it; and the last context."""
    last, packed = mixture.read(mixture.ngrams.begin(len(ids)), ids, mask)
    network = torch.randn(*ids.shape, H)
    return network, torch.cat([network, packed], -1), last


def test_a_token_is_as_likely_as_the_network_and_the_n_grams_say_together(mixture):
    ids = torch.tensor([[1, 2, 3, 2], [4, 1, 2, 5]])
    softmax = Softmax(H, V)
    network, h, _ = read(mixture, ids)
    contexts = mixture.ngrams.follow(mixture.ngrams.begin(2), ids)
    p = 0.7 * softmax.log_probabilities(network).exp() + 0.3 * mixture.ngrams.probabilities(contexts)
    mixed = MixedOutput(softmax, mixture)
    torch.testing.assert_close(mixed.log_probabilities(h), p.log())
    torch.testing.assert_close(mixed.logits(h).softmax(-1), p)
    assert torch.equal(mixed.features(h), network)
    targets = torch.tensor([[2, 3, 2, 1], [1, 2, 5, 5]])
    torch.testing.assert_close(mixed.nll(h, targets), -p.log().gather(-1, targets[..., None])[..., 0])
    assert torch.allclose(p.sum(-1), torch.ones(2, 4))


def test_numbers_of_n_grams_too_large_for_a_float_come_through(mixture):
    contexts = torch.tensor([[2**40 - 1, 3 * 2**20 + 5], [7, -1]])
    packed = torch.cat([contexts.div(2**20, rounding_mode="floor"), contexts.remainder(2**20)], -1).float()
    network, again = mixture.split(torch.cat([torch.ones(2, H), packed], -1))
    assert torch.equal(again, contexts)
    assert torch.equal(network, torch.ones(2, H))


def test_a_text_goes_on_behind_its_own_tokens_not_behind_padding(mixture):
    ids, mask = torch.tensor([[1, 2, 3], [4, 5, 0], [0, 0, 0]]), torch.tensor([[1, 1, 1], [1, 1, 0], [0, 0, 0]])
    _, _, last = read(mixture, ids, mask.bool())
    begin = mixture.ngrams.begin(1)
    assert torch.equal(last[0], mixture.ngrams.follow(begin, ids[:1])[0, -1])
    assert torch.equal(last[1], mixture.ngrams.follow(begin, ids[1:2, :2])[0, -1])
    assert torch.equal(last[2], begin[0])
    assert torch.equal(read(mixture, ids)[2], mixture.ngrams.follow(mixture.ngrams.begin(3), ids)[:, -1])


@pytest.mark.parametrize(("count", "better"), [(5, 2.0), (400, 0.0), (400, 0.3), (400, -3.0)])
def test_the_share_makes_the_tokens_likeliest_unless_they_are_few(mixture, count, better):
    generator = torch.Generator().manual_seed(1)
    network, ngrams = torch.rand(2, count, generator=generator) * 4
    network = network + better
    mixture.fit_share(MixtureCosts(network, ngrams))
    shares = torch.linspace(0.0005, 0.9995, 1999).double()[:, None]
    likely = (shares * (-network).exp() + (1 - shares) * (-ngrams).exp()).log().sum(1)
    likely += 10 * (shares.log() + (1 - shares).log())[:, 0]  # ten tokens that speak for either
    assert float(mixture.share) == pytest.approx(float(shares[likely.argmax()]), abs=6e-4)


def test_a_mixture_of_the_same_size_is_made_of_its_weights_and_further_tokens_keep_the_share(mixture):
    again = NGramMixture.like(mixture.state_dict(), V)
    again.load_state_dict(mixture.state_dict())
    assert float(again.share) == float(mixture.widen(9).share) == pytest.approx(0.7)
    assert mixture.widen(9).ngrams.vocabulary == 9


def test_costs_of_windows_are_joined_in_their_order():
    windows = [MixtureCosts(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))]
    windows.append(MixtureCosts(torch.tensor([5.0]), torch.tensor([6.0])))
    joined = join_costs(iter(windows))
    assert (joined.network.tolist(), joined.ngrams.tolist()) == ([1, 2, 5], [3, 4, 6])
