"""No constraint is ever violated, by rollout or beam, and none changes what a sequence is worth."""

import itertools
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.decoding import (
    AtTokens,
    BannedTokens,
    Beam,
    ForcedPrefix,
    Greedy,
    History,
    MinLength,
    NoRepeatNgram,
    Sample,
    TeacherForcing,
    rollout,
)
from elman.errors import ConfigError, ModelError
from tests.decoding.tables import END, outcomes, table

STOP = AtTokens((END,))
seeds = st.integers(0, 10_000)


def written_under(constraints, seed: int, limit: int = 8) -> list[list[list[int]]]:
    """What is sampled and what is found, by sentence."""
    model = table(seed, size=5, sentences=3)
    arguments = {"start": model.start, "stop": STOP, "limit": limit, "constraints": constraints}
    sample = Sample(generator=torch.Generator().manual_seed(seed))
    result = rollout(model.step, model.state, sample, **arguments)
    found = Beam(width=4, n_best=4)(model.step, model.state, **arguments)
    return [
        [tokens[mask].tolist(), *(h.tokens for h in row)]
        for tokens, mask, row in zip(result.tokens, result.mask, found, strict=True)
    ]


def holds(row: list[int], part: tuple[int, ...]) -> bool:
    return any(tuple(row[i : i + len(part)]) == part for i in range(len(row)))


@given(seed=seeds, length=st.integers(0, 7))
def test_no_row_ends_before_the_minimum_length(seed, length):
    for row in itertools.chain(*written_under([MinLength(length, (END,))], seed)):
        assert len(row) > length or (len(row) == 8 and END not in row[:length])


@given(seed=seeds, n=st.integers(1, 3))
def test_no_n_gram_is_written_twice(seed, n):
    limit = 4 if n == 1 else 8
    for row in itertools.chain(*written_under([NoRepeatNgram(n)], seed, limit)):
        grams = [tuple(row[i : i + n]) for i in range(len(row) - n + 1)]
        assert len(set(grams)) == len(grams)


@given(seed=seeds)
def test_banned_sequences_are_not_written(seed):
    sequences = ((3,), (2, 2), (0, 4, 0))
    for row in itertools.chain(*written_under([BannedTokens(sequences)], seed)):
        assert not any(holds(row, sequence) for sequence in sequences)


@given(seed=seeds)
def test_each_sentence_begins_with_its_prefix(seed):
    prefixes = torch.tensor([[3, 3, 2], [4, -1, -1], [-1, 0, -1]])
    first, second, third = written_under([ForcedPrefix(prefixes), MinLength(2, (END,))], seed)
    assert all(row[:3] == [3, 3, 2] for row in first)
    assert all(row[0] == 4 for row in second)
    assert all(row[1] == 0 for row in third)


@given(seed=seeds, length_penalty=st.sampled_from([0.0, 1.0]))
def test_a_full_beam_finds_the_best_sequence_that_obeys_at_the_models_own_score(seed, length_penalty):
    model = table(seed)
    constraints = [MinLength(1, (END,)), NoRepeatNgram(2), BannedTokens(((3, 2),))]
    [[found]] = Beam(width=256, length_penalty=length_penalty)(
        model.step, model.state, start=model.start, stop=STOP, limit=4, constraints=constraints
    )

    def obeys(row) -> bool:
        grams = list(itertools.pairwise(row))
        return row[0] != END and len(set(grams)) == len(grams) and (3, 2) not in grams

    best = max(
        (row for row in outcomes(4, 4) if obeys(row)),
        key=lambda row: sum(model.log_probs(0, row)) / len(row) ** length_penalty,
    )
    assert tuple(found.tokens) == best
    assert found.log_probs == pytest.approx(model.log_probs(0, best))


@given(seed=seeds, data=st.data())
def test_no_repeat_forbids_exactly_what_would_repeat(seed, data):
    n = data.draw(st.integers(1, 3))
    row = data.draw(st.lists(st.integers(0, 3), max_size=7))
    tokens = torch.tensor([row], dtype=torch.long).view(1, -1)
    left = NoRepeatNgram(n)(History(tokens, torch.zeros(1, dtype=torch.long)), torch.zeros(1, 4))
    for token in range(4):
        gram = tuple([*row, token][-n:])
        assert (left[0, token] == -math.inf) == (len(gram) == n and holds(row, gram))


def test_a_position_where_everything_is_forbidden_is_named():
    model = table(0, size=4)
    arguments = {"start": model.start, "stop": AtTokens(()), "limit": 6}
    with pytest.raises(ModelError, match=r"row 0, position 4"):
        rollout(model.step, model.state, Greedy(), constraints=[NoRepeatNgram(1)], **arguments)


def test_a_policy_that_insists_on_what_is_forbidden_is_told():
    model = table(0, size=4)
    with pytest.raises(ModelError, match=r"row 0, position 1.*insists"):
        rollout(
            model.step,
            model.state,
            TeacherForcing(torch.tensor([[2, 3, 2]])),
            start=model.start,
            stop=STOP,
            limit=3,
            constraints=[BannedTokens(((3,),))],
        )


def test_a_beam_that_may_write_nothing_says_so():
    model = table(0, size=4)
    everything = BannedTokens(((0,), (1,), (2,), (3,)))
    with pytest.raises(ModelError, match=r"row 0.*constraints forbid"):
        Beam()(model.step, model.state, start=model.start, stop=STOP, limit=3, constraints=[everything])


def test_impossible_settings_are_refused():
    with pytest.raises(ConfigError, match="at least 1"):
        NoRepeatNgram(0)
    with pytest.raises(ConfigError, match="empty"):
        BannedTokens(((),))
