"""Beam search against enumeration, against a plain search with lists, and at its extremes."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.decoding import AtTokens, Beam, Greedy, TeacherForcing, rollout
from elman.errors import ConfigError, ModelError
from tests.decoding.tables import END, Table, plain_beam, ranked, table

STOP = AtTokens((END,))
seeds = st.integers(0, 10_000)
alphas = st.sampled_from([0.0, 0.6, 1.0, 2.0])


def searched(beam: Beam, model: Table, limit: int):
    return beam(model.step, model.state, start=model.start, stop=STOP, limit=limit)


def greedy(model: Table, limit: int) -> list[list[int]]:
    rolled = rollout(model.step, model.state, Greedy(), start=model.start, stop=STOP, limit=limit)
    return [row[m].tolist() for row, m in zip(rolled.tokens, rolled.mask, strict=True)]


@given(seed=seeds, length_penalty=alphas, limit=st.integers(1, 4), narrow=st.booleans())
def test_a_beam_that_holds_everything_finds_the_n_best_of_all_sequences(seed, length_penalty, limit, narrow):
    model = table(seed, size=4)
    beam = Beam(width=4**limit, length_penalty=length_penalty, n_best=min(6, 4**limit), narrow=narrow)
    [found] = searched(beam, model, limit)
    expected = ranked(model, limit, length_penalty)[: beam.n_best]
    assert [tuple(h.tokens) for h in found] == [tokens for _, tokens in expected]
    assert [h.score for h in found] == pytest.approx([score for score, _ in expected], rel=1e-12)


@given(
    seed=seeds,
    width=st.integers(1, 6),
    factor=st.sampled_from([0.0, 1.5, 4.0, 20.0, math.inf]),
    narrow=st.booleans(),
    length_penalty=alphas,
    limit=st.integers(1, 7),
)
def test_every_setting_agrees_with_a_plain_search(seed, width, factor, narrow, length_penalty, limit):
    model = table(seed, size=5)
    expected = plain_beam(model, limit, width, factor, narrow, length_penalty)
    beam = Beam(width=width, factor=factor, narrow=narrow, length_penalty=length_penalty, n_best=width)
    [found] = searched(beam, model, limit)
    assert [tuple(h.tokens) for h in found] == [tokens for _, tokens in expected[:width]]
    assert [h.score for h in found] == pytest.approx([score for score, _ in expected[:width]])


@given(seed=seeds, length_penalty=alphas, narrow=st.booleans())
def test_ending_early_never_costs_a_place_among_the_n_best(seed, length_penalty, narrow):
    model = table(seed, size=5, spread=3)
    for n in (1, 2):
        beam = Beam(width=4, length_penalty=length_penalty, narrow=narrow, n_best=n)
        [found] = searched(beam, model, 9)
        expected = plain_beam(model, 9, 4, math.inf, narrow, length_penalty)[:n]
        assert [tuple(h.tokens) for h in found] == [tokens for _, tokens in expected]


@given(seed=seeds, length_penalty=alphas, narrow=st.booleans(), factor=st.sampled_from([None, 3.0]))
def test_width_one_is_greedy(seed, length_penalty, narrow, factor):
    model = table(seed, size=5, sentences=3)
    found = searched(Beam(width=1, length_penalty=length_penalty, narrow=narrow, factor=factor), model, 6)
    assert [row[0].tokens for row in found] == greedy(model, 6)


@given(seed=seeds, length_penalty=alphas, narrow=st.booleans())
def test_factor_zero_is_greedy_and_factor_infinity_is_fixed_width(seed, length_penalty, narrow):
    model = table(seed, size=5, sentences=2)
    none = searched(Beam(width=4, factor=0, length_penalty=length_penalty, narrow=narrow), model, 6)
    assert [row[0].tokens for row in none] == greedy(model, 6)
    fixed = Beam(width=4, length_penalty=length_penalty, narrow=narrow, n_best=4)
    wide = Beam(width=4, factor=math.inf, length_penalty=length_penalty, narrow=narrow, n_best=4)
    assert searched(wide, model, 6) == searched(fixed, model, 6)


@pytest.mark.parametrize("factor", [1e-30, 0.5, 0.999])
def test_a_factor_below_one_is_none_since_the_best_itself_would_be_too_far(factor):
    with pytest.raises(ConfigError, match=r"factor is .+; it must be at least 1, or 0 for the best alone"):
        Beam(factor=factor)


@given(
    seed=seeds,
    sentences=st.integers(2, 5),
    factor=st.sampled_from([None, 5.0]),
    narrow=st.booleans(),
    length_penalty=alphas,
)
def test_a_batch_is_searched_as_its_sentences_are_alone(seed, sentences, factor, narrow, length_penalty):
    model = table(seed, size=5, sentences=sentences, spread=2.5)
    beam = Beam(width=3, factor=factor, narrow=narrow, length_penalty=length_penalty, n_best=3)
    alone = [searched(beam, model.only(b), 8)[0] for b in range(sentences)]
    assert searched(beam, model, 8) == alone


@given(seed=seeds, width=st.integers(2, 8))
def test_the_n_best_are_sorted_and_distinct(seed, width):
    [found] = searched(Beam(width=width, n_best=width), table(seed), 5)
    scores = [h.score for h in found]
    assert scores == sorted(scores, reverse=True)
    assert len({tuple(h.tokens) for h in found}) == len(found)


@given(seed=seeds)
def test_log_probabilities_are_those_of_teacher_forcing(seed):
    model = table(seed, size=5)
    [found] = searched(Beam(width=4, n_best=4, length_penalty=0.7), model, 6)
    for h in found:
        forced = rollout(
            model.step,
            model.state,
            TeacherForcing(torch.tensor([h.tokens])),
            start=model.start,
            stop=AtTokens(()),
            limit=len(h.tokens),
        )
        torch.testing.assert_close(forced.log_probs[0], torch.tensor(h.log_probs).double())
        assert h.score == pytest.approx(sum(h.log_probs) / len(h.tokens) ** 0.7)


def test_of_equal_scores_the_earlier_hypothesis_and_the_lower_token_come_first():
    model = Table(torch.zeros(1, 1, 4, dtype=torch.float64))
    [found] = searched(Beam(width=3, length_penalty=0, n_best=3, narrow=False), model, 2)
    assert [h.tokens for h in found] == [[1], [0, 0], [0, 1]]


def test_among_many_equal_scores_the_order_is_kept():
    model = Table(torch.zeros(1, 1, 9, dtype=torch.float64))
    [found] = searched(Beam(width=8, n_best=8), model, 4)
    expected = plain_beam(model, 4, 8, math.inf, True, 1.0)
    assert [tuple(h.tokens) for h in found] == [tokens for _, tokens in expected]


def test_a_step_is_called_with_living_hypotheses_only():
    calls = []
    model = table(3, size=5, sentences=4, spread=3)

    def step(state, tokens):
        calls.append(len(tokens))
        return model.step(state, tokens)

    Beam(width=3)(step, model.state, start=model.start, stop=STOP, limit=12)
    assert calls[0] == 4
    assert calls[-1] < max(calls) <= 12


def test_no_sentences_give_no_hypotheses():
    model = table(0)
    nothing = Table(model.logits[:0])
    assert searched(Beam(), nothing, 4) == []


def test_a_model_of_nan_is_said_to_be_one():
    model = Table(torch.full((1, 1, 4), math.nan))
    with pytest.raises(ModelError, match=r"row 0.*NaN"):
        searched(Beam(), model, 4)


def test_half_precision_is_searched_in_single():
    model = table(5, size=5)
    half = Table(model.logits.half())
    assert searched(Beam(), half, 6) == searched(Beam(), Table(half.logits.float()), 6)


@pytest.mark.parametrize(
    "wrong", [{"width": 0}, {"factor": -1.0}, {"length_penalty": -0.1}, {"n_best": 6}, {"n_best": 0}]
)
def test_settings_out_of_range_are_named(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        Beam(**wrong)


def test_no_tokens_are_too_few_for_a_search():
    with pytest.raises(ConfigError, match="limit"):
        searched(Beam(), table(0), 0)
