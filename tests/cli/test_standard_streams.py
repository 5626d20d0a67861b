"""A run does not end because something cannot be printed, and a stray variable does not silence it."""

import json
import os
import subprocess
import sys
from errno import EIO

import pytest

from elman.cli import app
from elman.errors import ConfigError
from elman.training.distributed import is_main_process

TRAIN = ["train", "classifier", "--train", "t.tsv", "--out", "m", "--set", "training.updates=2"]


@pytest.fixture
def folder(tmp_path):
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    rows = [f"{a} {b} is {'good' if a < b else 'bad'}\t{a < b}" for a in words for b in words]
    (tmp_path / "t.tsv").write_text("\n".join(["text\tlabel", *rows]))
    return tmp_path


def shell(line, folder, **variables):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **variables}
    return subprocess.run(["bash", "-c", line], cwd=folder, env=environment, capture_output=True, check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="has no such redirections")
@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_training_goes_on_where_nobody_reads_its_messages(folder, redirection):
    line = f"{sys.executable} -m elman {' '.join(TRAIN)} {redirection}"
    assert shell(line, folder).returncode == 0
    assert json.loads((folder / "m" / "config.json").read_text())["task"] == "classifier"


def test_help_can_be_printed_in_any_encoding(folder):
    done = shell(f"{sys.executable} -m elman train classifier --help", folder, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"Train a text classifier" in done.stdout


def test_a_closed_standard_input_is_an_empty_one(folder):
    shell(f"{sys.executable} -m elman {' '.join(TRAIN)}", folder)
    done = shell(f"{sys.executable} -m elman predict m <&-", folder)
    assert (done.returncode, done.stderr) == (1, b"elman: stdin: the file is empty\n")


def test_a_rank_alone_is_no_distributed_run(monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert is_main_process()


@pytest.mark.parametrize("rank", [None, "foo"])
def test_half_of_what_torchrun_sets_is_refused(monkeypatch, rank):
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", rank) if rank else monkeypatch.delenv("RANK", raising=False)
    with pytest.raises(ConfigError, match=r"RANK is (not set|'foo'); start several processes with torchrun"):
        is_main_process()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux has it")
def test_results_that_cannot_be_written_are_one_line_and_exit_code_1():
    command = [sys.executable, "-m", "elman", "--version"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "elman: standard output: No space left on device\n")


def test_an_error_of_the_system_that_names_no_file_is_not_one_of_standard_output(monkeypatch, capsys):
    def fail(**_):
        raise OSError(EIO, "Input/output error")

    monkeypatch.setattr(app, "elman", fail)
    assert app.call() == 1
    assert capsys.readouterr().err == "elman: Input/output error\n"
