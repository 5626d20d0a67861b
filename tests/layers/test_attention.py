"""Attention by hand, and what masks, padding, order, steps and shared rows do to it."""

import math

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from elman.errors import ModelError
from elman.layers.attention import SCORES, Additive, Attention, AttentionScore, Bilinear, Dot, Memory, ScaledDot

H = 4
lengths = st.lists(st.integers(0, 6), min_size=1, max_size=4)
every_score = pytest.mark.parametrize("name", SCORES)


def attention(name: str) -> Attention:
    return Attention(SCORES[name](H, H)).double()


def made(sizes: list[int], steps: int = 3, padding: int = 0) -> tuple[torch.Tensor, ...]:
    """Queries, encoder outputs and their mask."""
    longest = max(sizes) + padding
    mask = torch.arange(longest)[None] < torch.tensor(sizes)[:, None]
    values = torch.randn(len(sizes), longest, H, dtype=torch.float64)
    return torch.randn(len(sizes), steps, H, dtype=torch.float64), values, mask


def scored_by_hand(score: AttentionScore, q: np.ndarray, h: np.ndarray) -> float:
    """Of one query and one position."""
    arrays = {name: weight.detach().numpy() for name, weight in score.named_parameters()}
    match score:
        case ScaledDot():
            return sum(q * h) / math.sqrt(len(q))
        case Dot():
            return sum(q * h)
        case Bilinear():
            return q @ arrays["W_s.weight"] @ h
        case Additive():
            return arrays["v"] @ np.tanh(arrays["W.weight"] @ q + arrays["U.weight"] @ h)


def test_two_words_and_the_dot_product_on_paper():
    look = Attention(Dot(2, 2))
    ones = torch.ones(1, 2, dtype=torch.bool)
    memory = look.remember(torch.tensor([[[0.0, 1.0], [math.log(3), 0.0]]]), ones)
    context, weights = look(torch.tensor([[[1.0, 0.0]]]), memory)
    torch.testing.assert_close(weights, torch.tensor([[[0.25, 0.75]]]))
    torch.testing.assert_close(context, torch.tensor([[[0.75 * math.log(3), 0.25]]]))


def test_the_bilinear_score_joins_a_query_of_two_to_a_memory_of_three_on_paper():
    score = Bilinear(2, 3)
    score.W_s.weight.data = torch.tensor([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]])
    memory = torch.tensor([[[1.0, 1.0, 1.0], [0.0, 3.0, 5.0]]])
    # W_s h = (3, 0) and (6, -2), and the query is (1, 10)
    scores = score(torch.tensor([[[1.0, 10.0]]]), score.keys(memory))
    assert scores.tolist() == [[[3.0, -14.0]]]


@every_score
@given(sizes=lengths)
def test_weights_and_contexts_are_those_by_hand(name, sizes):
    look, (query, values, mask) = attention(name), made(sizes)
    context, weights = look(query, look.remember(values, mask))
    for b, n in enumerate(sizes):
        h = values[b, :n].numpy()
        for t, q in enumerate(query[b].numpy()):
            e = np.exp([scored_by_hand(look.score, q, hj) for hj in h])
            alpha = e / e.sum()
            np.testing.assert_allclose(weights[b, t, :n].detach(), alpha)
            np.testing.assert_allclose(context[b, t].detach(), alpha @ h, atol=1e-12)
            assert not weights[b, t, n:].any()


def test_the_scaled_dot_product_is_that_of_torch():
    look, (query, values, mask) = attention("scaled"), made([5, 2])
    context, _ = look(query, look.remember(values, mask))
    expected = scaled_dot_product_attention(query, values, values, attn_mask=mask[:, None])
    torch.testing.assert_close(context, expected)


def test_the_inner_size_of_an_additive_score_may_be_chosen():
    score = Additive(2, 3, 7)
    memory, query = torch.randn(1, 5, 3), torch.randn(1, 4, 2)
    assert score.keys(memory).shape == (1, 5, 7)
    assert score(query, score.keys(memory)).shape == (1, 4, 5)


def test_an_additive_score_of_any_blocks_is_the_same(monkeypatch):
    score, query, keys = Additive(H, H).double(), *made([5, 3], steps=7)[:2]
    whole = score(query, keys)
    monkeypatch.setattr(Additive, "block", 2 * keys.numel())
    torch.testing.assert_close(score(query, keys), whole)


@every_score
@given(sizes=lengths, padding=st.integers(0, 3))
def test_padding_is_inert_even_where_it_is_nan(name, sizes, padding):
    look, (query, values, mask) = attention(name), made(sizes, padding=padding)
    longest = max(sizes)
    context, weights = look(query, look.remember(values[:, :longest], mask[:, :longest]))
    dirty = values.masked_fill(~mask[..., None], math.nan)
    again, wider = look(query, look.remember(dirty, mask))
    torch.testing.assert_close(again, context)
    torch.testing.assert_close(wider[..., :longest], weights)
    assert not wider[..., longest:].any()


@every_score
@given(sizes=lengths)
def test_weights_sum_to_one_where_there_is_a_source_and_to_zero_elsewhere(name, sizes):
    look, (query, values, mask) = attention(name), made(sizes)
    _, weights = look(query, look.remember(values, mask))
    expected = (torch.tensor(sizes) > 0).double()[:, None].expand(-1, 3)
    torch.testing.assert_close(weights.sum(-1), expected)


@every_score
def test_an_empty_source_has_no_context_and_no_gradient(name):
    look, (query, values, mask) = attention(name), made([0, 3])
    query.requires_grad_()
    values.requires_grad_()
    context, weights = look(query, look.remember(values, mask))
    assert not context[0].any()
    assert not weights[0].any()
    (context.square().sum() + weights.square().sum()).backward()
    for grad in (query.grad, values.grad):
        assert torch.isfinite(grad).all()
        assert not grad[0].any()


@every_score
def test_a_source_in_another_order_is_weighed_in_that_order(name):
    look, (query, values, mask) = attention(name), made([6])
    order = torch.randperm(6)
    context, weights = look(query, look.remember(values, mask))
    same, moved = look(query, look.remember(values[:, order], mask[:, order]))
    torch.testing.assert_close(moved, weights[..., order])
    torch.testing.assert_close(same, context)


@every_score
@given(sizes=lengths, steps=st.integers(1, 5))
def test_all_steps_at_once_are_the_steps_one_by_one(name, sizes, steps):
    look, (query, values, mask) = attention(name), made(sizes, steps)
    memory = look.remember(values, mask)
    single = [look(query[:, t : t + 1], memory) for t in range(steps)]
    for at_once, parts in zip(look(query, memory), zip(*single, strict=True), strict=True):
        torch.testing.assert_close(at_once, torch.cat(parts, 1))


@every_score
@given(rows=st.lists(st.integers(0, 8), max_size=12))
@example(rows=[0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
@example(rows=[2, 0, 2, 0, 2, 0])
@example(rows=[1] * 10 + [0, 2, 3, 4, 5, 6, 7, 8])
def test_queries_that_share_rows_look_at_a_memory_with_these_rows_repeated(name, rows):
    look, (_, values, mask) = attention(name), made([3, 0, 5, 1, 2, 1, 4, 2, 1])
    query, rows = torch.randn(len(rows), 2, H).double(), torch.tensor(rows, dtype=torch.long)
    memory = look.remember(values, mask)
    repeated = Memory(memory.values[rows], memory.keys[rows], memory.mask[rows])
    for shared, copied in zip(look(query, memory, rows), look(query, repeated), strict=True):
        torch.testing.assert_close(shared, copied)


def test_queries_that_share_sources_without_a_word_get_nothing():
    look = attention("bilinear")
    memory = look.remember(torch.zeros(1, 0, H).double(), torch.ones(1, 0, dtype=torch.bool))
    query, rows = torch.randn(3, 1, H).double(), torch.zeros(3, dtype=torch.long)
    context, weights = look(query, memory, rows)
    assert weights.shape == (3, 1, 0)
    assert not context.any()


@every_score
@pytest.mark.parametrize("rows", [None, [0, 0, 1, 1, 2, 2]])
def test_gradients_are_those_of_differences(name, rows):
    look, (_, values, mask) = attention(name), made([2, 0, 3])
    query = torch.randn(6 if rows else 3, 2, H).double().requires_grad_()
    rows = torch.tensor(rows) if rows else None

    def run(query, values, *_):
        return look(query, look.remember(values, mask), rows)

    assert torch.autograd.gradcheck(run, (query, values.requires_grad_(), *look.parameters()))


@every_score
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_under_autocast_weights_are_a_softmax_in_single_precision(name, dtype):
    look, (query, values, mask) = attention(name).float(), made([5, 0, 6])
    query, values = query.float(), values.float()
    context, weights = look(query, look.remember(values, mask))
    with torch.autocast("cpu", dtype):
        rough, alpha = look(query, look.remember(values, mask))
    assert alpha.dtype == torch.float32
    torch.testing.assert_close(alpha.sum(-1), mask.any(1).float()[:, None].expand(-1, 3))
    torch.testing.assert_close(alpha, weights, atol=0.03, rtol=0)
    torch.testing.assert_close(rough.float(), context, atol=0.1, rtol=0)


def test_scores_however_large_give_weights():
    look, (query, values, mask) = attention("dot"), made([4])
    context, weights = look(1e6 * query, look.remember(1e6 * values, mask))
    assert torch.isfinite(context).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, 3).double())


def test_keys_are_made_once_a_sequence_and_a_score_may_be_ones_own():
    class Nearness(nn.Module):
        made = 0

        def keys(self, memory):
            self.made += 1
            return memory

        def forward(self, query, keys):
            return -torch.cdist(query, keys)

    look, (_, values, mask) = Attention(Nearness()), made([5, 5])
    memory = look.remember(values, mask)
    for j in range(5):
        _, weights = look(values[:, j : j + 1], memory)
        assert (weights.argmax(-1) == j).all()
    assert look.score.made == 1


def test_nothing_is_stored_on_the_module():
    look, (query, values, mask) = attention("additive"), made([3])
    before = set(vars(look)), set(vars(look.score)), set(look.state_dict())
    look(query, look.remember(values, mask))
    assert (set(vars(look)), set(vars(look.score)), set(look.state_dict())) == before


@pytest.mark.parametrize("name", ["dot", "scaled"])
def test_a_dot_product_of_different_sizes_is_refused(name):
    with pytest.raises(ModelError, match=r"3 units and the encoder gives 4; .*'bilinear'"):
        SCORES[name](3, 4)


@pytest.mark.parametrize("name", ["bilinear", "additive"])
def test_the_other_scores_join_any_sizes(name):
    look = Attention(SCORES[name](3, 5))
    memory = look.remember(torch.randn(2, 4, 5), torch.ones(2, 4, dtype=torch.bool))
    context, weights = look(torch.randn(2, 6, 3), memory)
    assert context.shape == (2, 6, 5)
    assert weights.shape == (2, 6, 4)
