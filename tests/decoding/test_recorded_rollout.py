"""A recorded rollout writes what the loop of Python writes: on a CPU its steps run one by one."""

from typing import NamedTuple

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.decoding import (
    AnyOf,
    AtLengths,
    AtStrings,
    AtTokens,
    BannedTokens,
    ForcedPrefix,
    Greedy,
    MinLength,
    NoRepeatNgram,
    Sample,
    TeacherForcing,
    rollout,
)
from elman.decoding.interfaces import FixedStep
from elman.decoding.recorded_rollout import find_recording
from elman.decoding.rollout import replay_rollout
from elman.errors import ModelError
from elman.objectives.sample_sequences import FirstGreedy
from elman.state import State
from tests.decoding.tables import END, Table, table

seeds = st.integers(0, 10_000)
STOP = AtTokens((END,))


def make(seed: int, sentences: int, size: int = 5) -> Table:
    return Table(table(seed, size=size, sentences=sentences).logits.float())


def policies(seed: int, rows: int) -> list:
    def generator() -> torch.Generator:
        return torch.Generator().manual_seed(seed)

    each = [torch.Generator().manual_seed(seed + i) for i in range(rows)]
    return [
        Greedy(),
        Sample(generator=generator()),
        Sample(generator=generator(), temperature=0.3, top_k=3, top_p=0.9, min_p=0.01),
        Sample(generator=each, temperature=2.0),
        FirstGreedy(3, Sample(generator=generator())),
    ]


def both(model, number, seed, rows, stop=STOP, limit=13, constraints=()):
    given = {"start": model.start, "stop": stop, "limit": limit, "constraints": constraints}
    expected = rollout(model.step, model.state, policies(seed, rows)[number], **given)
    policy = policies(seed, rows)[number]
    with torch.no_grad():
        recorded = find_recording(FixedStep(model.step), policy, **given)
        assert not isinstance(recorded, str), recorded
        return expected, replay_rollout(recorded, policy, model.state, **given)


def assert_same(expected, found):
    assert found.tokens.equal(expected.tokens)
    assert found.mask.equal(expected.mask)
    torch.testing.assert_close(found.log_probs, expected.log_probs)
    for a, b in zip(found.state, expected.state, strict=True):
        assert a.equal(b)


@given(seed=seeds, rows=st.integers(1, 6), number=st.integers(0, 4), limit=st.integers(6, 20))
def test_it_writes_what_the_loop_writes(seed, rows, number, limit):
    assert_same(*both(make(seed, rows), number, seed, rows, limit=limit))


class Remembering(Table):
    """A table whose state has the last tokens beside it, as an array of three dimensions."""

    @property
    def state(self) -> State:
        rows = torch.arange(len(self.logits))
        return State(sentence=rows, context=torch.zeros_like(rows), last=torch.zeros(len(rows), 2, 3))

    def step(self, state, tokens):
        new, logits = super().step(state, tokens)
        return new.replace(
            last=torch.cat([tokens.view(-1, 1, 1).expand(-1, 2, 1), state.last[..., :2]], 2)
        ), logits


@given(seed=seeds, rows=st.integers(2, 6))
def test_a_state_of_any_shape_stays_as_it_was_where_a_row_has_ended(seed, rows):
    assert_same(*both(Remembering(make(seed, rows).logits), 0, seed, rows))


@given(seed=seeds, rows=st.integers(1, 6), number=st.integers(0, 4))
def test_it_ends_at_the_lengths_and_tokens_of_each_row(seed, rows, number):
    lengths = torch.randint(0, 12, (rows,), generator=torch.Generator().manual_seed(seed))
    assert_same(*both(make(seed, rows), number, seed, rows, AnyOf((STOP, AtLengths(lengths), AtTokens((3,))))))


@given(seed=seeds, rows=st.integers(1, 5), number=st.integers(0, 4))
def test_it_obeys_constraints(seed, rows, number):
    prefix = torch.randint(-1, 5, (rows, 4), generator=torch.Generator().manual_seed(seed))
    prefix = torch.where(prefix == 2, -1, prefix)
    rules = [BannedTokens(((2,),)), MinLength(5, (END,)), ForcedPrefix(torch.where(prefix == END, -1, prefix))]
    assert_same(*both(make(seed, rows), number, seed, rows, constraints=rules))


class FirstSteps(NamedTuple):
    """Looks in Python at what was written, at the first steps."""

    inert_from: int

    def __call__(self, written, logits):
        if written.length >= self.inert_from:
            return logits
        same = [3 if sum(row) % 2 else 4 for row in written.tokens.tolist()]
        return logits.index_fill(1, torch.tensor(sorted(set(same))), float("-inf"))


@given(seed=seeds, rows=st.integers(1, 5), number=st.integers(0, 4), first=st.integers(1, 11))
def test_steps_that_cannot_be_recorded_go_before_the_others(seed, rows, number, first):
    rules = [FirstSteps(first), BannedTokens(((2,),)), MinLength(3, (END,))]
    assert_same(*both(make(seed, rows), number, seed, rows, limit=22, constraints=rules))


def test_many_steps_are_recorded_as_one():
    assert_same(*both(make(5, 3), 1, 5, 3, stop=AtTokens(()), limit=4003))


def test_it_says_where_nothing_may_be_written():
    model = make(1, 2)
    rules = [BannedTokens(tuple((i,) for i in range(5)))]
    with pytest.raises(ModelError, match="row 0, position 0: the constraints forbid every token"):
        both(model, 1, 1, 2, constraints=rules)
    with torch.no_grad():
        given = {"start": model.start, "stop": STOP, "limit": 9, "constraints": rules}
        recorded = find_recording(FixedStep(model.step), Greedy(), **given)
        with pytest.raises(ModelError, match="row 0, position 0: the constraints forbid every token"):
            replay_rollout(recorded, Greedy(), model.state, **given)


def test_a_generator_goes_on_where_the_loop_would_leave_it_on_an_accelerator():
    model, generator = make(3, 2), torch.Generator().manual_seed(3)
    given = {"start": model.start, "stop": AtTokens(()), "limit": 13}
    with torch.no_grad():
        policy = Sample(generator=generator)
        recorded = find_recording(FixedStep(model.step), policy, **given)
        replay_rollout(recorded, policy, model.state, **given)
    other = torch.Generator().manual_seed(3)
    rollout(model.step, model.state, Sample(generator=other), **given)
    assert generator.get_state().equal(other.get_state())


def test_what_needs_python_between_steps_is_refused_with_a_reason():
    model = make(0, 2)
    fixed, greedy = FixedStep(model.step), Greedy()

    def why(step=fixed, policy=greedy, stop=STOP, limit=9, constraints=(), grad=False):
        with torch.set_grad_enabled(grad):
            return find_recording(step, policy, model.start, stop, limit, constraints)

    assert why(step=model.step) == "the step is a function that may do anything in Python"
    assert why(policy=TeacherForcing(torch.zeros(2, 9, dtype=torch.long))) == "TeacherForcing chooses in Python"
    assert why(stop=AnyOf((STOP, AtStrings(("a",), lambda *_: "")))) == (
        "AtStrings decides in Python where a row ends"
    )
    assert why(constraints=[NoRepeatNgram(2)]) == "NoRepeatNgram looks in Python at what was written"
    assert why(constraints=[BannedTokens(((1, 2),))]) == "BannedTokens looks in Python at what was written"
    assert why(limit=5) == "fewer than 6 steps are not worth a recording"
    assert why(grad=True) == "gradients are computed"
