"""The command line as a person meets it: what it prints where, and its exit codes."""

import json
import subprocess
import sys

import pytest

from elman import __version__

# The command with tasks so small that training takes no time.
QUICKLY = """
import functools, sys
import elman.inspect.comparison as comparison
small = {"steps": 3, "memory_updates": 2, "words": 50, "little_updates": 2}
comparison.Comparison = functools.partial(comparison.Comparison, **small)
from elman.cli import main
sys.argv[0] = "elman"
main()
"""


def elman(*arguments: str, quickly: bool = False, **options) -> subprocess.CompletedProcess:
    program = ["-c", QUICKLY] if quickly else ["-m", "elman"]
    command = [sys.executable, *program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_help_names_the_verbs():
    done = elman("--help")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "Usage:" in done.stdout
    assert "compare" in done.stdout
    assert "bench" in done.stdout
    assert elman("-h").stdout == done.stdout


def test_alone_it_greets_with_what_can_be_typed():
    done = elman()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == elman("--help").stdout


def test_version():
    done = elman("--version")
    assert (done.returncode, done.stdout) == (0, f"elman, version {__version__}\n")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["compare", "lstmm"], "elman: unknown cell 'lstmm'; did you mean 'lstm'?\n"),
        (["bench", "nothing"], "elman: unknown benchmark 'nothing'; there are "),
    ],
)
def test_a_wrong_name_is_one_line_on_stderr(arguments, line):
    done = elman(*arguments)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(line)
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["compare", "--sead", "1"], "--sead"),
        (["compare", "--seed", "one"], "'one'"),
        (["nothing"], "'nothing'"),
        (["bench"], "NAME"),
    ],
)
def test_a_wrong_call_is_exit_code_2(arguments, named):
    done = elman(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert named in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["train", "classifier", "--train", "a.tsv", "--epochs", "3", "--train", "b.tsv", "--out", "m"],
        ["train", "lm", "--train", "a.txt", "--valid", "b.txt", "--out", "m", "--valid=c.txt"],
        ["train", "pairs", "--train", "a.tsv", "--test", "b.tsv", "--test", "c.tsv", "--out", "m"],
    ],
)
def test_a_file_of_data_is_given_once(words, tmp_path):
    """The last would have counted: a file of the training data was left out without a word."""
    done = elman(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert "is given 2 times: give it once" in done.stderr
    assert not [*tmp_path.iterdir()]


def test_of_another_option_the_last_value_counts(tmp_path):
    """So an alias of the shell may have settings that a command changes."""
    done = elman("new", "cell", "mine", "--out", "a.py", "--out", "b.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "b.py").exists()
    assert not (tmp_path / "a.py").exists()


def test_what_takes_several_values_is_given_as_often_as_one_likes(tmp_path):
    words = ["--train", "a", "--train", "b", "--set", "model.hidden=3", "--set", "model.layers=1"]
    done = elman("train", "seq2seq", *words, "--out", "m", cwd=tmp_path)
    assert "a: no such file" in done.stderr


def test_json_is_one_object_on_stdout_and_nothing_else(tmp_path):
    arguments = ["compare", "elman", "--json", "--no-picture", "--seed", "3"]
    done = elman(*arguments, quickly=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["seed"] == 3
    (row,) = result["cells"]
    known = {"cell", "seed", "width", "parameters", "memory", "memory_by_length", "little_data", "seconds"}
    assert set(row) == known | {"norms"}
    assert (row["cell"], row["parameters"]) == ("elman", 32 * (16 + 32 + 1))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--picture cells.gif", "cells.gif: a picture ends in .png, .svg or .pdf"),
        ("--picture cells.svg --format pdf", "cells.svg does not end in .pdf, the format that was asked for"),
    ],
)
def test_a_picture_that_cannot_be_drawn_is_refused_before_the_cells_are_trained(options, said, tmp_path):
    done = elman("compare", "elman", *options.split(), cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"elman: {said}\n")


def test_a_table_on_stdout_a_picture_where_it_was_asked_for(tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "compare.svg"
    done = elman("compare", "elman", "gru", "--format", "svg", quickly=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    header, first, second, *_ = done.stdout.splitlines()
    assert header.split() == ["cell", "parameters", "memory", "%", "little", "data", "%", "seconds"]
    assert first.split()[:2] == ["elman", "1,568"]
    assert second.split()[:2] == ["gru", "4,704"]
    assert done.stderr == "gradients through time: compare.svg\n"
    assert path.read_bytes().startswith(b"<?xml")
    assert [*tmp_path.iterdir()] == [path]
