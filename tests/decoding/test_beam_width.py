"""The width of a beam by hand: narrowing, a factor, and the trace that tells of both."""

import math

import torch

from elman.decoding import AtTokens, Beam
from tests.decoding.tables import END, Table, table

STOP = AtTokens((END,))


def chain(*rows: list[float]) -> Table:
    """Token probabilities that depend on the last token only: one row for each last token."""
    logits = torch.tensor(rows, dtype=torch.float64).log()
    return Table(logits.roll(1, 0)[None])  # with as many contexts as tokens, context = last + 1


# 0 is padding and impossible; 1 ends; the start is 2.
MODEL = chain([0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.4, 0.35, 0.25], [0.0, 0.1, 0.3, 0.6])


def told(beam: Beam, limit: int):
    events, search = ([], beam.trace(MODEL.step, MODEL.state, start=MODEL.start, stop=STOP, limit=limit))
    while True:
        try:
            events.append(next(search))
        except StopIteration as end:
            return events, end.value


def test_the_beam_narrows_by_one_for_each_completed_hypothesis():
    events, [found] = told(Beam(width=3, length_penalty=0, n_best=3), limit=10)
    # 1 (.4), 2 (.35), 3 (.25); one place less: 3 3 (.15), 2 1 (.14); again: 3 3 3 (.09), and so on
    assert [event.width for event in events[:4]] == [3, 2, 1, 1]
    assert [event.position for event in events] == list(range(10))
    assert [event.completed for event in events[:3]] == [1, 1, 0]
    assert [[h.tokens for h in event.kept] for event in events[:3]] == [
        [[1], [2], [3]],
        [[3, 3], [2, 1]],
        [[3, 3, 3]],
    ]
    assert [h.tokens for h in found] == [[1], [2, 1], [3] * 10]
    assert events[-1].closed == "limit"


def test_without_narrowing_the_place_is_free_again():
    events, _ = told(Beam(width=3, length_penalty=0, n_best=3, narrow=False), limit=10)
    assert {event.width for event in events} == {3}
    assert [h.tokens for h in events[1].kept] == [[3, 3], [2, 1], [2, 2]]


def test_the_search_ends_when_nothing_unfinished_can_win():
    events, [found] = told(Beam(width=3, length_penalty=0), limit=10)
    assert [event.closed for event in events] == ["bound"]  # .35 and .25 never come to .4 again
    assert [h.tokens for h in found] == [[1]]


def test_the_search_ends_when_the_beam_has_narrowed_to_nothing():
    events, _ = told(Beam(width=1), limit=10)
    assert [(event.completed, event.closed) for event in events] == [(1, "completed")]


def test_the_factor_keeps_what_is_near_the_best():
    events, _ = told(Beam(width=3, factor=1.3, length_penalty=0, n_best=3), limit=10)
    first = events[0]  # .4 / 1.3 = .31: 3 (.25) is too far
    assert [h.tokens for h in first.kept] == [[1], [2]]
    assert (first.beyond_factor, first.beyond_width) == (1, 0)
    assert first.width == 3


def test_the_width_caps_what_the_factor_would_keep():
    events, _ = told(Beam(width=2, factor=100.0, length_penalty=1), limit=3)
    assert [len(event.kept) for event in events] == [2, 1]
    assert events[0].beyond_factor == 0
    assert [event.beyond_width for event in events] == [0, 1]


def test_the_trace_returns_what_the_search_does():
    model = table(7, size=5, sentences=3)
    beam = Beam(width=4, factor=8.0, n_best=2)
    arguments = {"start": model.start, "stop": STOP, "limit": 7}
    search = beam.trace(model.step, model.state, **arguments)
    closed = {}
    while True:
        try:
            event = next(search)
        except StopIteration as end:
            result = end.value
            break
        assert len(event.kept) <= event.width
        assert event.sentence not in closed
        if event.closed:
            closed[event.sentence] = event.closed
        best = max(h.score for h in event.kept)
        assert all(math.exp(best - h.score) <= 8.0 for h in event.kept)
    assert sorted(closed) == [0, 1, 2]
    assert result == beam(model.step, model.state, **arguments)
