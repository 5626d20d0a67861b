"""Every command of docs/translation.md is run, on a few pairs; training is made short."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.pairs_folder import pairs

PAGE = Path(__file__).parents[2] / "docs" / "translation.md"
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)

# What is found as `elman`: the command itself, but small and quick where it trains.
SHORT = """#!/bin/sh
if [ "$1" = train ]; then
  set -- "$@" --hidden 8 --set model.embedding=8 --epochs 1
fi
exec "{python}" -m elman "$@"
"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory) -> Path:
    """A folder with the page's files."""
    folder = tmp_path_factory.mktemp("desk")
    for seed, name in enumerate(("train", "valid", "test", "news")):
        some = pairs(60 if name == "train" else 10, seed)
        for side, ending in enumerate(("en", "fr")):
            lines = "".join(f"{pair[side]}\n" for pair in some)
            (folder / f"{name}.{ending}").write_text(lines)
    (folder / "second.fr").write_text((folder / "test.fr").read_text())
    (folder / "short.fr").write_text("un\n")
    rows = "".join(f"{source},{target}\n" for source, target in pairs(30))
    (folder / "faq.csv").write_text(f"question,answer\n{rows}")
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
