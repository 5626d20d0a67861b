"""Every test runs with shapes checked at each call and with one thread."""

import os
import signal
from importlib.util import find_spec

os.environ.setdefault("OMP_NUM_THREADS", "1")

# A GPU machine may have PyTorch and pytest alone: its tests then run unchecked, and the header says so.
MISSING = [name for name in ("jaxtyping", "beartype", "hypothesis") if find_spec(name) is None]

# Every signature is wrapped at import, which takes seconds: a mutant first meets tests without that.
if not MISSING and "ELMAN_UNCHECKED" not in os.environ:
    from jaxtyping import install_import_hook

    import tests.checking  # noqa: F401  (the hook looks it up by name)

    install_import_hook("elman", "tests.checking.check")

import pytest
import torch

torch.set_num_threads(1)
# Started in the background by a shell, a process ignores Ctrl-C, and under nohup what ends it, too; so
# would those that it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
if not MISSING:
    from hypothesis import settings

    settings.register_profile("elman", deadline=None, max_examples=25, derandomize=True)
    settings.load_profile("elman")


def pytest_report_header() -> list[str]:
    return [f"shapes are not checked: {', '.join(MISSING)} not installed"] if MISSING else []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test marked gpu is skipped where there is none."""
    if not torch.cuda.is_available():
        for item in items:
            if item.get_closest_marker("gpu"):
                item.add_marker(pytest.mark.skip(reason="needs a GPU"))


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)
