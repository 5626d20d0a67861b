"""The command line. One file a verb; torch is imported inside the verbs that need it."""

from __future__ import annotations

import os
import sys

from elman.cli.stop_signals import run_stoppable


def main() -> None:
    """Errors a user can mend are one line on stderr and exit code 1; a wrong call is 2.

    A signal is 128 and its number: 130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP.
    """
    # Read by torch when it is imported: large tensors get large pages, whose first use costs a
    # five-hundredth. A training step allocates them anew each time. A benchmark does without, as a user's
    # program does.
    if sys.argv[1:2] != ["bench"]:
        os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")
    if code := run_stoppable(_call):
        sys.exit(code)


def _call() -> int:
    from elman.cli.app import call
    from elman.cli.standard_streams import robust_streams

    with robust_streams():
        return call()
