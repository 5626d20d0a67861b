"""Measurements as a person meets them."""

import os
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
