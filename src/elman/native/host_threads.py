"""The threads that the host program has already: libraries borrow them, so that no two pools compete."""

from __future__ import annotations

import ctypes
from functools import cache


@cache
def find_parallel() -> int:
    """The address of OpenMP's ``GOMP_parallel`` where the program has loaded one, else 0."""
    try:
        return ctypes.cast(ctypes.CDLL(None).GOMP_parallel, ctypes.c_void_p).value or 0
    except (AttributeError, OSError, TypeError):
        return 0
