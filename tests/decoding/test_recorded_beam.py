"""A recorded beam search finds what the search with books finds; on a CPU its steps run one by one."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.decoding import AnyOf, AtLengths, AtStrings, AtTokens, Beam, Greedy, NoRepeatNgram, rollout
from elman.decoding.interfaces import FixedStep
from elman.decoding.recorded_beam import find_recorded_beam
from tests.decoding.tables import END, Table, ranked, table

seeds = st.integers(0, 10_000)
STOP = AtTokens((END,))


def make(seed: int, sentences: int = 1, size: int = 5, ties: bool = False) -> Table:
    logits = table(seed, size=size, sentences=sentences).logits.float()
    return Table(logits.round() if ties else logits)


def replay(beam: Beam, model: Table, **limits):
    search, beams = beam._prepare(model.step, start=model.start, **limits)
    recorded = find_recorded_beam(FixedStep(model.step), beams, search.log_factor, model.start, **limits)
    assert not isinstance(recorded, str), recorded
    return beam._results(recorded.run(model.state, model.start, beams), beams)


beams = st.builds(
    lambda width, factor, narrow, penalty, best: Beam(
        width=width, factor=factor, narrow=narrow, length_penalty=penalty, n_best=min(best, width)
    ),
    st.integers(1, 7),
    st.sampled_from([None, 0, 1.5, 6.0]),
    st.booleans(),
    st.sampled_from([0.0, 0.7, 1.0]),
    st.integers(1, 3),
)


@given(seed=seeds, sentences=st.integers(1, 4), limit=st.integers(6, 19), ties=st.booleans(), beam=beams)
def test_it_finds_what_the_search_with_books_finds(seed, sentences, limit, ties, beam):
    model = make(seed, sentences, ties=ties)
    lengths = torch.randint(1, limit + 3, (sentences,), generator=torch.Generator().manual_seed(seed))
    for stop in (STOP, AnyOf((STOP, AtLengths(lengths)))):
        given = {"stop": stop, "limit": limit}
        expected = beam(model.step, model.state, start=model.start, **given)
        found = replay(beam, model, **given)
        assert [[h.tokens for h in row] for row in found] == [[h.tokens for h in row] for row in expected]
        for row, other in zip(found, expected, strict=True):
            for one, two in zip(row, other, strict=True):
                torch.testing.assert_close(torch.tensor(one.log_probs), torch.tensor(two.log_probs))
                assert abs(one.score - two.score) < 1e-6


@given(seed=seeds, sentences=st.integers(1, 3))
def test_a_beam_of_one_is_greedy(seed, sentences):
    model = make(seed, sentences)
    found = replay(Beam(width=1), model, stop=STOP, limit=9)
    greedy = rollout(model.step, model.state, Greedy(), start=model.start, stop=STOP, limit=9)
    rows = zip(greedy.tokens.tolist(), greedy.mask.sum(1).tolist(), strict=True)
    assert [row[0].tokens for row in found] == [tokens[:n] for tokens, n in rows]


@given(seed=seeds)
def test_a_wide_beam_finds_the_best_of_all(seed):
    model = make(seed, size=2)
    found = replay(Beam(width=16, narrow=False, length_penalty=0), model, stop=STOP, limit=6)
    best = Table(model.logits.double())
    assert tuple(found[0][0].tokens) == ranked(best, 6, 0)[0][1]


def test_what_needs_python_between_steps_is_refused_with_a_reason():
    model, fixed = make(0), FixedStep(make(0).step)

    def why(step=fixed, width=5, stop=STOP, limit=9, constraints=()):
        _, state = Beam(width=width)._prepare(step, start=model.start, stop=stop, limit=limit)
        return find_recorded_beam(step, state, 1.0, model.start, stop, limit, constraints)

    assert why(step=model.step) == "the step is a function that may do anything in Python"
    assert why(constraints=[NoRepeatNgram(2)]) == "NoRepeatNgram looks in Python at what was written"
    assert why(stop=AtStrings(("a",), lambda *_: "")) == "AtStrings decides in Python where a row ends"
    assert why(width=17) == "a beam of more than 16 has no kernel"
    assert why(limit=5) == "fewer than 6 steps are not worth a recording"
