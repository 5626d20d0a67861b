"""A page of the docs, its shell commands run in a folder that has its files; training is made short."""

import os
import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"

# What is found as `elman`: the command itself, but small and quick where it trains.
SHORT = """#!/bin/sh
if [ "$1" = train ]; then
  set -- "$@" {flags}
fi
exec "{python}" -m elman "$@"
"""


def run_page(name: str, desk: Path, flags: str) -> None:
    """Every command does what the page says; one that it shows an error of ends with that line."""
    page = (DOCS / name).read_text()
    blocks = re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 7
    (desk / "bin").mkdir()
    command = desk / "bin" / "elman"
    command.write_text(SHORT.format(python=sys.executable, flags=flags))
    command.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{desk / 'bin'}:{os.environ['PATH']}",
        "XDG_CACHE_HOME": str(desk / "cache"),
        "OMP_NUM_THREADS": "1",
    }
    for block in blocks:
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
