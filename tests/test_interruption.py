"""Signals that come while work goes on which must not be torn."""

import signal

import pytest

from elman.interruption import Interrupted, defer_signals, interruptible


def test_of_two_runs_the_inner_one_is_interrupted(monkeypatch):
    """A run within the loop of another, such as a small training at each evaluation of a large one."""
    monkeypatch.setattr("elman.interruption.received", [])
    with defer_signals() as outer, defer_signals() as inner:
        with pytest.raises(Interrupted), interruptible():
            signal.raise_signal(signal.SIGTERM)
        assert (outer, inner) == ([], [signal.SIGTERM])


def test_a_signal_that_came_before_is_heard_where_work_may_be_interrupted_and_later_ones_are_noted(monkeypatch):
    monkeypatch.setattr("elman.interruption.received", [])
    began = []
    with defer_signals() as asked:
        with interruptible():
            pass
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(Interrupted) as raised, interruptible():
            began.append(None)
        assert (asked, raised.value.number, began) == ([signal.SIGTERM], signal.SIGTERM, [])
    with interruptible():
        began.append(None)
    assert began, "the run is over, and what it was asked as well"
