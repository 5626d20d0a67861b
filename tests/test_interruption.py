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
