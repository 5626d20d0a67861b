"""Ctrl-C, what the disk refuses, warnings: never a place in the code."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.lm_folder import call, store

# The command, in which a verb imports a module.
IMPORTING = """
import sys
import elman.cli, elman.cli.app
def call():
    import swallowing
    print("went on")
    return 0
elman.cli.app.call = call
elman.cli.main()
"""
# Ctrl-C is pressed while the module is imported, and gets lost there.
SWALLOWING = """
import os, signal
try:
    os.kill(os.getpid(), signal.SIGINT)
except BaseException:
    pass
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no signals")
def test_ctrl_c_ends_the_command_while_it_is_still_importing(tmp_path: Path):
    (tmp_path / "swallowing.py").write_text(SWALLOWING)
    done = subprocess.run(
        [sys.executable, "-c", IMPORTING], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\nstopped\n")


def test_ctrl_c_is_exit_code_130(tmp_path: Path, monkeypatch, capsys):
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("elman.artifact.read_config", interrupted)
    done = call(monkeypatch, capsys, "predict", str(tmp_path))
    assert (done.code, done.out) == (130, "")
    assert done.err.split() == ["stopped"]


def test_a_warning_is_a_line_without_code(tmp_path: Path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    store(tmp_path / "m")
    out = tmp_path / "pictures"
    done = call(monkeypatch, capsys, "inspect", str(tmp_path / "m"), "--text", "界", "--out", str(out))
    assert done.code == 0
    assert f"{out}/surprisal.png: boxes stand for signs that the font does not have\n" in done.err
    assert ".py" not in done.err


def test_what_cannot_be_written_is_one_line(tmp_path: Path, monkeypatch, capsys):
    store(tmp_path / "m")
    (tmp_path / "file").touch()
    below = tmp_path / "file" / "pictures"
    done = call(monkeypatch, capsys, "inspect", str(tmp_path / "m"), "--out", str(below))
    assert (done.code, done.out) == (1, "")
    assert done.err == f"elman: {below}: Not a directory\n"


def test_memory_that_is_used_up_is_one_line(tmp_path: Path, monkeypatch, capsys):
    import torch

    monkeypatch.setattr("elman.artifact.read_config", lambda folder: torch.empty(1 << 56, dtype=torch.uint8))
    done = call(monkeypatch, capsys, "predict", str(tmp_path))
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("elman: out of memory (72,057.6 TB more were needed); a smaller")
    assert done.err.count("\n") == 1
