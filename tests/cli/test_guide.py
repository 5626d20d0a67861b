"""Every command of docs/language-models.md is run, on a small book; training is made short."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "language-models.md"
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)

# What is found as `elman`: the command itself, but small and quick where it trains.
SHORT = """#!/bin/sh
if [ "$1" = train ]; then
  set -- "$@" --hidden 8 --embedding 8 --layers 1 --epochs 1
fi
exec "{python}" -m elman "$@"
"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory) -> Path:
    """A folder with the page's files."""
    folder = tmp_path_factory.mktemp("desk")
    words = [
        "TRANIO :",
        "I thank you , sir , my lord .",
        "What say you of the priest ?",
        "My lord , I pray",
    ]
    for name, lines in (("book", 200), ("last", 20), ("scene", 10)):
        text = "\n".join(words[i % len(words)] for i in range(lines))
        (folder / f"{name}.txt").write_text(f"{text}\n")
    (folder / "bin").mkdir()
    command = folder / "bin" / "elman"
    command.write_text(SHORT.format(python=sys.executable))
    command.chmod(0o755)
    return folder


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
def test_every_command_does_what_the_page_says(desk):
    environment = {
        **os.environ,
        "PATH": f"{desk / 'bin'}:{os.environ['PATH']}",
        "XDG_CACHE_HOME": str(desk / "cache"),
        "OMP_NUM_THREADS": "1",
    }
    assert len(BLOCKS) > 7
    for block in BLOCKS:
        done = subprocess.run(
            ["bash", "-e", "-c", block],
            cwd=desk,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        mistakes = re.findall(r"^# (elman: .*)$", block, re.MULTILINE)
        assert done.returncode == (1 if mistakes else 0), done.stderr
        if mistakes:
            assert done.stderr.splitlines() == mistakes
