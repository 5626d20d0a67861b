"""A small sample of every campaign, and every case that was a finding once."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.campaign.harness import attempt
from tests.campaign.targets import load_targets

SECONDS = 1  # for a target; slow ones have at least four inputs
TARGETS = load_targets()
FINDINGS = [line.split()[0] for path in Path(__file__).parent.glob("findings/*.txt") for line in path.open()]


@pytest.mark.parametrize("name", TARGETS)
def test_a_sample_of_inputs_is_taken_or_refused(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    until = time.process_time() + SECONDS
    for seed in range(40):
        _, finding = attempt(TARGETS, f"{name}:{seed}")
        assert finding is None, finding.trace
        if seed >= 3 and time.process_time() > until:
            break


@pytest.mark.parametrize("case", FINDINGS)
def test_what_was_found_once_is_mended(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, finding = attempt(TARGETS, case)
    assert finding is None, finding.trace
