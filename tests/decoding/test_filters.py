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


@pytest.mark.parametrize(("width", "p"), [(4, 0.25), (4, 0.5), (8, 0.875), (1024, 0.25), (1024, 0.75)])
def test_top_p_takes_no_more_where_the_mass_is_p_exactly(width, p):
    assert kept(policies.top_p(torch.zeros(1, width), p)) == list(range(int(width * p)))


def test_top_p_may_need_nearly_all_of_a_large_vocabulary():
    flat = torch.zeros(2, 8192)
    flat[1, 7] = 50.0  # a row that needs one token, beside one that needs most
    found = policies.top_p(flat, 0.75)
    assert kept(found) == list(range(6144))
    assert kept(found[1:]) == [7]


@given(row=rows)
def test_top_p_of_one_keeps_all(row):
    assert kept(policies.top_p(torch.tensor([row]), 1.0)) == list(range(len(row)))


@given(row=rows, p=st.floats(0.01, 0.99))
def test_min_p_keeps_what_is_p_times_as_likely_as_the_likeliest(row, p):
    mass = probabilities(row)
    expected = [i for i, x in enumerate(mass) if x >= p * max(mass)]
    assert kept(policies.min_p(torch.tensor([row], dtype=torch.float64), p)) == expected


RAMP = torch.stack([torch.arange(10.0) - 5, (torch.arange(10.0) - 5) * 100])  # of Hugging Face's tests


@pytest.mark.parametrize(
    ("settings", "alone", "with_two"),
    [
        ({"top_p": 0.9}, [3, 1], [3, 2]),
        ({"min_p": 0.05}, [3, 1], [3, 2]),
        ({"top_k": 1}, [1, 1], [2, 2]),
        ({"top_k": 3}, [3, 3], [3, 3]),
    ],
)
def test_each_filter_leaves_at_least_the_tokens_to_keep(settings, alone, with_two):
    """Hugging Face's own cases: of the steep row each filter would leave one."""
    for least, counts in ((1, alone), (2, with_two)):
        sample = Sample(generator=torch.Generator(), min_tokens_to_keep=least, **settings)
        left = sample.filter_logits(RAMP)
        assert (left > -math.inf).sum(-1).tolist() == counts
        assert left.argmax(-1).tolist() == [9, 9]


@given(row=rows, least=st.integers(1, 10), p=st.floats(0.05, 0.999))
def test_the_tokens_to_keep_are_the_likeliest_and_of_equals_the_lowest(row, least, p):
    logits = torch.tensor([row], dtype=torch.float64)
    for filter_logits in (policies.top_p, policies.min_p):
        alone = kept(filter_logits(logits, p))
        assert kept(filter_logits(logits, p, least)) == sorted({*alone, *likeliest(row)[:least]})


def test_more_tokens_to_keep_than_are_looked_at_first_are_kept():
    assert len(kept(policies.top_p(torch.arange(5000.0)[None], 0.1, 300))) == 300


@pytest.mark.parametrize("temperature", [1e-3, 1e-30, 1e-40, 1e-300, 5e-324])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_tiny_temperature_is_greedy_choice(temperature, dtype):
    logits = torch.tensor([[-90.0, 80.0, 70.0, -math.inf], [-1.0, -3.0, -2.0, -1e9]], dtype=dtype)
    sample = Sample(generator=torch.Generator().manual_seed(1), temperature=temperature)
    assert sample.filter_logits(logits).softmax(-1).argmax(-1).tolist() == [1, 0]
    assert all(sample(0, logits).tolist() == [1, 0] for _ in range(20))


def test_equals_share_at_the_smallest_temperature():
    sample = Sample(generator=torch.Generator().manual_seed(1), temperature=1e-40)
    drawn = sample(0, torch.tensor([2.0, 2.0, 1.0]).expand(200, 3)).bincount(minlength=3).tolist()
    assert 70 < drawn[0] < 130
    assert drawn[2] == 0


def test_a_row_with_a_generator_of_its_own_draws_the_same_whatever_stands_beside_it():
    logits = torch.randn(3, 100)

    def draw(rows: int) -> list[list[int]]:
        sample = Sample(generator=[torch.Generator().manual_seed(seed) for seed in range(rows)])
        return [sample(0, logits[:rows]).tolist() for _ in range(5)]

    assert [row[:1] for row in draw(3)] == draw(1)
    alone = Sample(generator=torch.Generator().manual_seed(0))
    assert draw(1) == [alone(0, logits[:1]).tolist() for _ in range(5)], "as with one generator"


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


@pytest.mark.parametrize("nothing", [-math.inf, math.nan])
def test_a_row_without_a_distribution_gives_a_token_and_leaves_the_others_alone(nothing):
    logits = torch.tensor([[nothing] * 3, [-math.inf, 0.0, -math.inf]])
    first, second = Sample(generator=torch.Generator().manual_seed(0))(0, logits).tolist()
    assert 0 <= first < 3
    assert second == 1


@given(row=rows, seed=st.integers(0, 99))
def test_sampling_among_one_is_greedy(row, seed):
    logits = torch.tensor([row])
    sample = Sample(generator=torch.Generator().manual_seed(seed), top_k=1)
    assert sample(0, logits).equal(Greedy()(0, logits))


@pytest.mark.parametrize(
    "wrong",
    [
        {"temperature": 0.0},
        {"top_k": 0},
        {"top_p": 0.0},
        {"top_p": 1.1},
        {"min_p": -0.1},
        {"min_tokens_to_keep": 0},
    ],
)
def test_settings_out_of_range_are_named(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        Sample(generator=torch.Generator(), **wrong)
