"""`elman …` as a process of its own that ends when whoever started it does, however that ends.

Its standard input is a pipe that its parent holds open and writes nothing into.
"""

from __future__ import annotations

import os
import sys
import threading

from elman.cli import main


def _end_with_parent() -> None:
    os.read(0, 1)  # returns when the pipe is closed
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_end_with_parent, daemon=True).start()
    sys.argv[0] = "elman"
    main()
