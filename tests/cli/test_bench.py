"""Measurements as a person meets them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import elman


@pytest.mark.parametrize("vocabulary", ["10000", "2240", "0"])
def test_a_vocabulary_that_is_too_small_to_be_cut_is_refused_in_one_line(vocabulary):
    command = [sys.executable, "-m", "elman", "bench", "softmax", "--vocabulary", vocabulary]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"--vocabulary is {vocabulary}; it must be above 10000, ")


def test_a_benchmark_runs_in_the_environment_of_its_caller(tmp_path):
    """Large pages, which `elman` asks torch for, make torch's own layers faster than in a user's program."""
    script = Path(elman.__file__).parents[2] / "bench" / "cpu.py"
    python = tmp_path / "python"  # stands in for the interpreter: says what it was started with
    python.write_text('#!/bin/sh\necho "pages:${THP_MEM_ALLOC_ENABLE-none} $1"\n')
    python.chmod(0o755)
    program = (
        "import sys; from elman.cli import main; "
        f"sys.argv, sys.executable = ['elman', 'bench', 'cpu'], {str(python)!r}; main()"
    )
    mine = {name: value for name, value in os.environ.items() if name != "THP_MEM_ALLOC_ENABLE"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=mine)
    assert done.stdout.split() == ["pages:none", str(script)], done.stderr


def test_objectives_are_compared_from_the_same_model_and_their_updates_timed(tmp_path):
    """A model that is not there is trained first; `likelihood` is timed beside whatever is asked for."""
    pairs = [f"{a} {b}\t{b} {a}\n" for a in "abcde" for b in "abcde"]
    (tmp_path / "pairs.tsv").write_text("".join(pairs))
    recipe = tmp_path / "tiny.toml"
    recipe.write_text(
        'task = "seq2seq"\n'
        'data = { train = "$HERE/pairs.tsv", valid = "$HERE/pairs.tsv", test = "$HERE/pairs.tsv" }\n'
        'tokens = { source = { kind = "whitespace" }, target = { kind = "whitespace" } }\n'
        "model = { hidden = 8, embedding = 8 }\n"
        "training = { epochs = 1 }\n"
    )
    command = [sys.executable, "-m", "elman", "bench", "exposure", "--recipe", recipe]
    command += ["--out", tmp_path / "runs", "--kinds", "risk,professor", "--updates", "2"]
    command += ["--set", "risk.training.epochs=1", "--set", "professor.training.epochs=1"]
    command += ["--device", "cpu", tmp_path / "mle"]
    here = {**os.environ, "HERE": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=here)
    assert done.returncode == 0, done.stderr
    rows = [line.split("|")[1].strip() for line in done.stdout.splitlines() if line]
    assert rows[2:5] == ["where all begin", "risk", "professor"]
    assert rows[7:] == ["likelihood", "risk", "professor"]
    assert {p.name for p in (tmp_path / "runs").iterdir()} == {"risk", "professor"}
