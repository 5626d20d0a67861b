"""A copy of the tree, and functions that run in a fork of this process inside it.

Importing torch takes seconds; a fork of a process that has imported it takes none. The package itself must not
be imported before: each fork imports it from its own copy.
"""

import ctypes
import json
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

HEAVY = ("torch", "numpy", "safetensors.torch", "tokenizers", "pytest", "hypothesis", "jaxtyping", "beartype")
NOT_COPIED = (
    ".git",
    ".venv",
    ".gpu",
    ".mutants",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    "shared",
    "site",
)
MEMORY = 8 << 30
PR_SET_PDEATHSIG = 1  # of linux/prctl.h: a signal when the parent dies


def import_heavy_packages() -> None:
    os.environ |= {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    for name in HEAVY:
        __import__(name)


def copy_tree(root: Path, workplace: Path) -> Path:
    """A copy with the times of the files: compiled code beside them stays valid."""
    copy = Path(tempfile.mkdtemp(dir=workplace)) / "tree"
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns(*NOT_COPIED), symlinks=True)
    return copy


def call_in_fork(tree: Path, function: Callable[[], Any], limit: float) -> Any:
    """What the function returns, as JSON, from a child in ``tree``; None where it took longer or died."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _run_and_exit(tree, function, writing)
    os.close(writing)
    try:
        said = _read(reading, time.monotonic() + limit)
    finally:
        os.close(reading)
        _kill_group(child)
        os.waitpid(child, 0)
    if not said:
        return None
    if error := json.loads(said).get("error"):
        raise RuntimeError(error)
    return json.loads(said)["answer"]


def _run_and_exit(tree: Path, function: Callable[[], Any], writing: int) -> None:
    try:
        os.setsid()  # so that it can be ended with all that it starts
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        _move_into(tree)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        _write(writing, {"answer": function()})
    except BaseException:
        _write(writing, {"error": traceback.format_exc()})
    finally:
        os._exit(0)


def _write(writing: int, answer: dict[str, Any]) -> None:
    said = json.dumps(answer).encode()
    while said:
        said = said[os.write(writing, said) :]


def _move_into(tree: Path) -> None:
    """From now on ``elman`` and ``tests`` are those of the copy, here and in processes started from here."""
    os.chdir(tree)
    for name in [name for name in sys.modules if name.split(".")[0] in ("tests", "elman")]:
        del sys.modules[name]
    sys.path[:0] = [str(tree), str(tree / "src")]
    os.environ["PYTHONPATH"] = os.pathsep.join([str(tree / "src"), os.environ.get("PYTHONPATH", "")]).strip(":")
    os.environ["TMPDIR"] = str(tree.parent)
    tempfile.tempdir = None


def _read(reading: int, deadline: float) -> bytes:
    parts = b""
    while (left := deadline - time.monotonic()) > 0:
        if select.select([reading], [], [], left)[0]:
            if not (part := os.read(reading, 1 << 20)):
                return parts
            parts += part
    return b""


def _kill_group(child: int) -> None:
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        os.kill(child, signal.SIGKILL)
