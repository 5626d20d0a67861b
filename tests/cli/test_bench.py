"""Measurements as a person meets them."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("vocabulary", ["10000", "2240", "0"])
def test_a_vocabulary_that_is_too_small_to_be_cut_is_refused_in_one_line(vocabulary):
    command = [sys.executable, "-m", "elman", "bench", "softmax", "--vocabulary", vocabulary]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"--vocabulary is {vocabulary}; it must be above 10000, ")
