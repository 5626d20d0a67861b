"""Each filter against its definition, and sampling against the distribution that is left."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.decoding import Greedy, Sample, policies
from elman.decoding.stable_topk import stable_topk
from elman.errors import ConfigError

# Few distinct values, so that ties are common.
rows = st.lists(st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0]), min_size=1, max_size=9)


def kept(logits: torch.Tensor) -> list[int]:
    return [i for i, x in enumerate(logits[0].tolist()) if x > -math.inf]


def likeliest(row: list[float]) -> list[int]:
    return sorted(range(len(row)), key=lambda i: (-row[i], i))


def probabilities(row: list[float]) -> list[float]:
    total = math.fsum(map(math.exp, row))
    return [math.exp(x) / total for x in row]


@given(row=rows, k=st.integers(1, 10))
def test_the_best_come_in_order_and_equals_by_column(row, k):
    values, columns = stable_topk(torch.tensor([row, row[::-1]]), k)
    assert columns[0].tolist() == likeliest(row)[:k]
    assert columns[1].tolist() == likeliest(row[::-1])[:k]
    assert values[0].tolist() == sorted(row, reverse=True)[:k]


@given(seed=st.integers(0, 99), width=st.integers(200, 900), k=st.integers(1, 9))
def test_the_best_of_many_columns_are_those_of_a_sorted_row(seed, width, k):
    torch.manual_seed(seed)
    for values in (torch.randn(3, width), torch.randint(40, (3, width)).float()):
        values[0, : width // 2] = -math.inf
        found, columns = stable_topk(values, k)
        expected = values.sort(dim=1, descending=True, stable=True)
        assert torch.equal(found, expected.values[:, :k])
        assert torch.equal(columns, expected.indices[:, :k])


@given(row=rows, k=st.integers(1, 10))
def test_top_k_keeps_exactly_k_and_of_equals_the_lowest(row, k):
    assert kept(policies.top_k(torch.tensor([row]), k)) == sorted(likeliest(row)[:k])


@given(row=rows, p=st.floats(0.05, 0.999))
def test_top_p_keeps_the_fewest_that_have_the_mass(row, p):
    chosen = kept(policies.top_p(torch.tensor([row], dtype=torch.float64), p))
    order, mass = likeliest(row), probabilities(row)
    n = next(n for n in range(1, len(row) + 1) if math.fsum(mass[i] for i in order[:n]) >= p - 1e-12)
    assert chosen == sorted(order[:n])


def test_top_p_sees_beyond_the_first_few_of_a_large_vocabulary():
    flat = torch.zeros(1, 1000)
    assert kept(policies.top_p(flat, 0.5)) == list(range(500))


@given(row=rows)
def test_top_p_of_one_keeps_all(row):
    assert kept(policies.top_p(torch.tensor([row]), 1.0)) == list(range(len(row)))


@given(row=rows, p=st.floats(0.01, 0.99))
def test_min_p_keeps_what_is_p_times_as_likely_as_the_likeliest(row, p):
    mass = probabilities(row)
    expected = [i for i, x in enumerate(mass) if x >= p * max(mass)]
    assert kept(policies.min_p(torch.tensor([row], dtype=torch.float64), p)) == expected


@given(row=rows)
def test_what_is_kept_keeps_its_logits(row):
    logits = torch.tensor([row])
    for filter_logits in (policies.top_k(logits, 3), policies.top_p(logits, 0.7), policies.min_p(logits, 0.3)):
        left = filter_logits > -math.inf
        assert filter_logits[left].equal(logits[left])


@pytest.mark.parametrize(
    "settings", [{}, {"temperature": 0.5}, {"top_k": 3}, {"top_p": 0.8}, {"min_p": 0.3, "temperature": 2.0}]
)
def test_samples_follow_the_filtered_distribution(settings):
    logits = torch.tensor([1.5, 0.0, 1.0, -1.0, 0.5])
    policy = Sample(generator=torch.Generator().manual_seed(1), **settings)
    draws = 20_000
    counts = policy(0, logits.expand(draws, 5)).bincount(minlength=5).double()
    expected = draws * policy.filter_logits(logits[None])[0].double().softmax(0)
    possible = expected > 0
    assert not counts[~possible].any()
    chi_square = ((counts - expected)[possible] ** 2 / expected[possible]).sum()
    assert chi_square < 23.5  # four degrees of freedom exceed it once in ten thousand


def test_a_temperature_raises_probabilities_to_its_inverse():
    logits = torch.tensor([[1.0, 0.0, -2.0]])
    powers = logits.softmax(-1) ** (1 / 0.4)
    drawn_from = Sample(generator=torch.Generator(), temperature=0.4).filter_logits(logits)
    torch.testing.assert_close(drawn_from.softmax(-1), powers / powers.sum())


def test_the_same_seed_draws_the_same():
    logits = torch.randn(50, 100)
    draw = [Sample(generator=torch.Generator().manual_seed(s))(0, logits) for s in (7, 7, 8)]
    assert draw[0].equal(draw[1])
    assert not draw[0].equal(draw[2])


def test_what_has_no_probability_is_not_drawn_even_by_zero(monkeypatch):
    monkeypatch.setattr("elman.decoding.policies.uniform", lambda logits, _: torch.zeros(1).double())
    sample = Sample(generator=torch.Generator())
    assert sample(0, torch.tensor([[-math.inf, 0.0, 0.0]])).tolist() == [1]


@given(row=rows, seed=st.integers(0, 99))
def test_sampling_among_one_is_greedy(row, seed):
    logits = torch.tensor([row])
    sample = Sample(generator=torch.Generator().manual_seed(seed), top_k=1)
    assert sample(0, logits).equal(Greedy()(0, logits))


@pytest.mark.parametrize(
    "wrong", [{"temperature": 0.0}, {"top_k": 0}, {"top_p": 0.0}, {"top_p": 1.1}, {"min_p": -0.1}]
)
def test_settings_out_of_range_are_named(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        Sample(generator=torch.Generator(), **wrong)
