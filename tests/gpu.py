"""``make test-gpu``: the tests marked gpu, and nothing else; says in one line what this machine lacks.

make test-gpu              one after the other
make test-gpu JOBS=12      in twelve processes that share the GPU: minutes become seconds
"""

import argparse
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NEEDED = ("torch", "numpy", "safetensors", "tokenizers", "pytest")


class Part:
    """A plugin of pytest: every ``count``-th test, from the one of this ``number`` on."""

    def __init__(self, number: int, count: int) -> None:
        self.number, self.count = number, count

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        marked = [item for item in items if item.get_closest_marker("gpu")]
        items[:] = marked[self.number :: self.count]


def gpu_files() -> list[str]:
    """Files with such tests. Only these are imported: others need what a GPU machine may not have."""
    files = sorted(Path(__file__).parent.rglob("test_*.py"))
    return [str(path) for path in files if "pytest.mark.gpu" in path.read_text()]


def run_parts(jobs: int, options: list[str]) -> int:
    """All parts at the same time; what each says, whole, as soon as it ends. The worst exit code."""
    command = [sys.executable, "-m", "tests.gpu", *options, "--jobs", str(jobs), "--part"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    parts = [subprocess.Popen([*command, str(number)], **pipes) for number in range(jobs)]
    for part in parts:
        print(part.communicate()[0], flush=True)
    return max(part.returncode for part in parts)


def main() -> int | str:
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        return f"the GPU tests need {', '.join(missing)}: pip install {' '.join(missing)}"
    import pytest
    import torch

    if not torch.cuda.is_available():
        return f"the GPU tests need a CUDA device, and torch {torch.__version__} sees none"
    parser = argparse.ArgumentParser(prog="python -m tests.gpu", description=__doc__)
    parser.add_argument("--jobs", type=int, default=1, help="processes at once")
    parser.add_argument("--part", type=int, help=argparse.SUPPRESS)
    options, others = parser.parse_known_args()
    if options.jobs > 1 and options.part is None:
        return run_parts(options.jobs, others)
    return pytest.main([*gpu_files(), *others], plugins=[Part(options.part or 0, options.jobs)])


if __name__ == "__main__":
    sys.exit(main())
