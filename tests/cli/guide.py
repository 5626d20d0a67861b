"""A page of the docs, its shell commands run in a folder that has its files.

``elman`` is the command itself, in a process forked from one that has imported everything already. Training
is made short; what takes minutes or needs a corpus is only read: its verb, options and files must exist.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(?:sh|bash)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

SERVER = Path(__file__).with_name("guide_server.py")
CLIENT = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    call = json.dumps([os.getcwd(), sys.argv[1:]]).encode()
    socket.send_fds(server, [call], [0, 1, 2])
    sys.exit(int(server.recv(16) or 1))
"""
# Of what would set up or start other things, the words must mean something.
OTHERS = {
    "make": f"""#!/bin/sh
grep -q "^$1:" {ROOT}/Makefile
""",
    "pip": f"""#!{sys.executable} -I
import pathlib, re, sys, tomllib
known = tomllib.loads(pathlib.Path("{ROOT}/pyproject.toml").read_text())["project"]
for extra in re.findall(r"[\\[,]([a-z]+)", sys.argv[-1]):
    known["optional-dependencies"][extra]
""",
    "torchrun": """#!/bin/sh
while [ "$1" != elman ]; do shift; done
exec "$@"
""",
}


def shell_blocks(page: Path) -> list[str]:
    return BLOCK.findall(page.read_text())


class Shell:
    """A shell whose ``elman`` answers at once."""

    def __init__(self, address: Path) -> None:
        self.address = address

    def run(self, block: str, desk: Path) -> subprocess.CompletedProcess[str]:
        """What a block of commands does in a folder."""
        if not (desk / "bin").exists():
            (desk / "recipes").symlink_to(ROOT / "recipes")
            (desk / "bin").mkdir()
            client = CLIENT.format(python=sys.executable, address=str(self.address))
            for name, script in {"elman": client, **OTHERS}.items():
                (desk / "bin" / name).write_text(script)
                (desk / "bin" / name).chmod(0o755)
        return subprocess.run(
            ["bash", "-e", "-c", block],
            cwd=desk,
            env={**os.environ, "PATH": f"{desk / 'bin'}:{os.environ['PATH']}"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def run_page(self, page: Path, desk: Path) -> None:
        """Every command does what the page says; one that it shows an error of ends with that line."""
        for block in shell_blocks(page):
            done = self.run(block, desk)
            mistakes = re.findall(r"^# (elman: .*)$", block, re.MULTILINE)
            assert done.returncode == (1 if mistakes else 0), f"{block}\n{done.stderr}"
            if mistakes:
                assert done.stderr.splitlines() == mistakes


@contextmanager
def open_shell() -> Iterator[Shell]:
    with tempfile.TemporaryDirectory() as place:  # the name of a socket must be short
        address = Path(place) / "elman"
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": f"{place}/cache"}
        server = subprocess.Popen([sys.executable, SERVER, address], env=environment)
        try:
            while not address.exists():
                assert server.poll() is None
                time.sleep(0.05)
            yield Shell(address)
        finally:
            server.terminate()
            server.wait()
