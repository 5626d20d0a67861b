"""The command line. One file a verb; torch is imported inside the verbs that need it."""

from __future__ import annotations

import os
import sys
from signal import SIGINT, default_int_handler, getsignal, signal
from types import FrameType


def main() -> None:
    """Errors a user can mend are one line on stderr and exit code 1; a wrong call is 2, Ctrl-C 130."""
    # Read by torch when it is imported: large tensors get large pages, whose first use costs a
    # five-hundredth. A training step allocates them anew each time.
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")
    if usual := getsignal(SIGINT) is default_int_handler:
        signal(SIGINT, _interrupt)
    try:
        from elman.cli.app import call
        from elman.cli.standard_streams import robust_streams

        with robust_streams():
            code = call()
    finally:
        if usual:
            signal(SIGINT, default_int_handler)
    if code:
        sys.exit(code)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Ctrl-C: at once while modules are imported, where an exception may get lost; nothing is there to save."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            os.write(2, b"\nstopped\n")
            os._exit(130)
        frame = frame.f_back
    raise KeyboardInterrupt
