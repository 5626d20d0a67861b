"""Every test runs with shapes checked at each call and with one thread."""

import os
import signal

os.environ.setdefault("OMP_NUM_THREADS", "1")

from jaxtyping import install_import_hook

import tests.checking  # noqa: F401  (the hook looks it up by name)

install_import_hook("elman", "tests.checking.check")

import pytest
import torch
from hypothesis import settings

torch.set_num_threads(1)
# Started in the background by a shell, a process ignores Ctrl-C, and so would those that it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("elman", deadline=None, max_examples=25, derandomize=True)
settings.load_profile("elman")


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)
