"""Rollout: where rows end, what is fed and kept, what it is worth, and gradients through it."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.decoding import (
    PADDING,
    AtLengths,
    AtTokens,
    Greedy,
    Sample,
    ScheduledSampling,
    TeacherForcing,
    rollout,
    unroll,
)
from elman.errors import ConfigError, ModelError
from elman.state import State
from tests.decoding.tables import END, outcomes, table

STOP = AtTokens((END,))
seeds = st.integers(0, 10_000)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def rolled(model, policy, limit=6, stop=STOP):
    return rollout(model.step, model.state, policy, start=model.start, stop=stop, limit=limit)


@given(seed=seeds, sentences=st.integers(1, 5))
def test_each_row_ends_at_its_own_stop_or_at_the_limit(seed, sentences):
    model = table(seed, sentences=sentences)
    result = rolled(model, Sample(generator=generator(seed)))
    for tokens, mask in zip(result.tokens, result.mask, strict=True):
        row = tokens[mask].tolist()
        assert END not in row[:-1]
        assert row[-1] == END or len(row) == 6
        assert (tokens[len(row) :] == PADDING).all()
        assert not mask[len(row) :].any()
    assert result.mask.any(0).all()  # no column that nobody wrote


@given(seed=seeds, sentences=st.integers(1, 4))
def test_log_probabilities_are_those_of_the_model(seed, sentences):
    model = table(seed, sentences=sentences)
    policy = Sample(generator=generator(seed), temperature=0.5, top_k=2)
    result = rolled(model, policy)
    for b in range(sentences):
        n = int(result.mask[b].sum())
        expected = model.log_probs(b, tuple(result.tokens[b, :n].tolist()))
        assert result.log_probs[b, :n].tolist() == pytest.approx(expected)
        assert not result.log_probs[b, n:].any()


def test_the_probabilities_of_everything_that_can_be_written_sum_to_one():
    model = table(2, size=3)
    total = sum(
        rolled(model, TeacherForcing(torch.tensor([tokens])), limit=len(tokens)).log_probs.sum().exp()
        for tokens in outcomes(3, 4)
    )
    torch.testing.assert_close(total, torch.tensor(1.0).double())


def test_finished_rows_read_padding_and_keep_their_state():
    read = []

    def step(state, tokens):
        read.append(tokens.tolist())
        return state.replace(h=state.h + 1), torch.zeros(2, 4)

    targets = torch.tensor([[3, END, 3, 3], [3, 3, 3, END]])
    result = rollout(
        step,
        State(h=torch.zeros(2, 1)),
        TeacherForcing(targets),
        start=torch.tensor([2, 2]),
        stop=STOP,
        limit=4,
    )
    assert read == [[2, 2], [3, 3], [PADDING, 3], [PADDING, 3]]
    assert result.state.h[:, 0].tolist() == [2, 4]


@given(seed=seeds)
def test_the_last_state_goes_on_where_a_longer_rollout_would_be(seed):
    model = table(seed, size=5)
    never = AtTokens(())
    whole = rolled(model, Greedy(), limit=7, stop=never)
    first = rolled(model, Greedy(), limit=3, stop=never)
    rest = rollout(model.step, first.state, Greedy(), start=first.tokens[:, -1], stop=never, limit=4)
    assert torch.cat([first.tokens, rest.tokens], 1).tolist() == whole.tokens.tolist()


def test_a_rollout_ends_once_all_rows_have():
    calls = []
    model = table(0, sentences=2)

    def step(state, tokens):
        calls.append(1)
        return model.step(state, tokens)

    targets = torch.tensor([[3, END, 0, 0, 0], [END, 0, 0, 0, 0]])
    rollout(step, model.state, TeacherForcing(targets), start=model.start, stop=STOP, limit=5)
    assert len(calls) == 2


@given(seed=seeds, sentences=st.integers(2, 5))
def test_a_batch_is_written_as_its_rows_are_alone(seed, sentences):
    model = table(seed, sentences=sentences)
    result = rolled(model, Greedy())
    for b in range(sentences):
        alone = rolled(model.only(b), Greedy())
        n = alone.tokens.shape[1]
        assert result.tokens[b, :n].tolist() == alone.tokens[0].tolist()
        assert int(result.mask[b].sum()) == n


def test_gradients_flow_through_the_log_probabilities_of_what_was_written_and_no_further():
    weight = torch.randn(4, 4, dtype=torch.float64, requires_grad=True)

    def step(state, tokens):
        return state, weight[tokens]

    targets = torch.tensor([[3, END, 0], [3, 3, END]])
    start = torch.tensor([2, 2])
    result = rollout(step, torch.zeros(2, 1), TeacherForcing(targets), start=start, stop=STOP, limit=3)
    result.log_probs.sum().backward()
    inputs, outputs = torch.tensor([2, 3, 2, 3, 3]), torch.tensor([3, END, 3, 3, END])
    copy = weight.detach().clone().requires_grad_()
    torch.nn.functional.cross_entropy(copy[inputs], outputs, reduction="sum").neg().backward()
    torch.testing.assert_close(weight.grad, copy.grad)


def test_turns_hold_the_logits_that_a_rollout_chose_from():
    model = table(4, sentences=2)
    arguments = {"start": model.start, "stop": STOP, "limit": 5}
    turns = list(unroll(model.step, model.state, Greedy(), **arguments))
    logits = torch.stack([turn.logits for turn in turns], 1)
    result = rollout(model.step, model.state, Greedy(), **arguments)
    chosen = logits.log_softmax(-1).gather(2, result.tokens[..., None])[..., 0]
    torch.testing.assert_close(chosen * result.mask, result.log_probs)


@given(seed=seeds)
def test_teacher_forcing_with_probability_one_is_forced_and_with_zero_the_other(seed):
    model = table(seed, size=5, sentences=4)
    targets = torch.randint(0, 5, (4, 6), generator=generator(seed))
    always = rolled(model, ScheduledSampling(targets, 1.0, Greedy(), generator()))
    never = rolled(model, ScheduledSampling(targets, 0.0, Greedy(), generator()))
    assert always.tokens.equal(rolled(model, TeacherForcing(targets)).tokens)
    assert never.tokens.equal(rolled(model, Greedy()).tokens)


def test_teacher_forcing_with_probability_p_is_drawn_at_each_step_and_row():
    targets = torch.ones(200, 50, dtype=torch.long)

    def step(state, tokens):
        return state, torch.tensor([1.0, 0.0]).expand(200, 2)

    policy = ScheduledSampling(targets, 0.3, Greedy(), generator())
    result = rollout(
        step, torch.zeros(200), policy, start=torch.zeros(200, dtype=torch.long), stop=AtTokens(()), limit=50
    )
    forced = result.tokens.double()
    spread = (0.3 * 0.7) ** 0.5
    assert abs(forced.mean() - 0.3) < 4 * spread / 100
    assert (forced.mean(0) - 0.3).abs().max() < 4 * spread / 200**0.5
    assert (forced.mean(1) - 0.3).abs().max() < 4.5 * spread / 50**0.5


def test_each_row_may_have_its_own_length():
    model = table(1, sentences=3)
    result = rolled(model, Greedy(), stop=AtLengths(torch.tensor([2, 5, 1])))
    assert result.mask.sum(1).tolist() == [2, 5, 1]


def test_no_rows_give_an_empty_rollout():
    model = table(0)
    empty = type(model)(model.logits[:0])
    assert rolled(empty, Greedy()).tokens.shape == (0, 0)


def test_more_positions_than_targets_are_refused():
    model = table(0)
    with pytest.raises(ModelError, match="there are 2 targets"):
        rolled(model, TeacherForcing(torch.tensor([[3, 3]])), limit=3)


def test_a_limit_below_one_is_refused():
    with pytest.raises(ConfigError, match="limit is 0"):
        rolled(table(0), Greedy(), limit=0)
