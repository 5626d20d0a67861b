"""``make test-gpu``: the tests marked gpu, and nothing else; says in one line what this machine lacks."""

import sys
from importlib.util import find_spec
from pathlib import Path

NEEDED = ("torch", "numpy", "safetensors", "tokenizers", "pytest")


def gpu_files() -> list[str]:
    """Files with such tests. Only these are imported: others need what a GPU machine may not have."""
    files = sorted(Path(__file__).parent.rglob("test_*.py"))
    return [str(path) for path in files if "pytest.mark.gpu" in path.read_text()]


def main() -> int | str:
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        return f"the GPU tests need {', '.join(missing)}: pip install {' '.join(missing)}"
    import pytest
    import torch

    if not torch.cuda.is_available():
        return f"the GPU tests need a CUDA device, and torch {torch.__version__} sees none"
    return pytest.main(["-m", "gpu", *gpu_files()])


if __name__ == "__main__":
    sys.exit(main())
