"""The harness finds what it is there to find."""

from __future__ import annotations

import faulthandler
import os
import signal
import time
from random import Random

import pytest

from elman.errors import DataError
from tests.campaign import harness
from tests.campaign.harness import Target, attempt, run, shrink


def refuse(rng: Random) -> None:
    raise DataError("a.txt:1: no")


def mumble(rng: Random) -> None:
    raise DataError("on and on " * 999)


def stumble(rng: Random) -> None:
    numbers = [rng.randrange(100) for _ in range(50)]
    assert max(numbers) < 90


def hang(rng: Random) -> None:
    time.sleep(60)


def die(rng: Random) -> None:
    if rng.random() < 0.5:
        faulthandler.disable()  # or pytest's would print a page
        os.kill(os.getpid(), signal.SIGSEGV)


TARGETS: dict[str, Target] = {t.__name__: t for t in (refuse, mumble, stumble, hang, die)}


def test_a_refusal_in_one_line_is_none_and_all_else_is_a_finding():
    assert attempt(TARGETS, "refuse:0") == (True, None)
    assert "characters" in attempt(TARGETS, "mumble:0")[1].what
    assert "AssertionError at test_harness.py" in attempt(TARGETS, "stumble:0")[1].what
    assert "Hang" in attempt(TARGETS, "hang:0", limit=0.1)[1].what


def test_a_finding_is_shrunk_to_the_draws_that_matter_and_shows_its_input():
    small = shrink(TARGETS, attempt(TARGETS, "stumble:0")[1])
    assert len(small.case.split(":")[2].split(",")) == 1
    assert "numbers = [0, " in small.trace
    assert attempt(TARGETS, small.case)[1].what == small.what


def test_workers_that_die_are_findings_and_the_others_go_on():
    chosen = {name: TARGETS[name] for name in ("refuse", "die")}
    summary = run(chosen, count=12, seconds=60, jobs=2)
    assert (summary.inputs, summary.refused) == (12, 6)
    assert [finding.what for finding in summary.findings] == ["the process died with code -11"]


def test_who_hangs_where_no_signal_reaches_is_killed(monkeypatch):
    monkeypatch.setattr(harness, "LIMIT", 0.2)
    monkeypatch.setattr(harness, "attempt", lambda targets, case, limit: targets[case.split(":")[0]](Random()))
    summary = run({"hang": hang}, count=1, seconds=60, jobs=1)
    assert [finding.what for finding in summary.findings] == ["the process died with code -9"]


@pytest.mark.parametrize("count", [1, 5, 10])
def test_as_many_inputs_are_run_as_were_asked_for(count):
    assert run({"refuse": refuse}, count=count, seconds=60, jobs=3).inputs == count


def test_time_ends_a_campaign():
    assert run({"refuse": refuse}, count=10**6, seconds=0.2, jobs=1).inputs < 10**6
