"""Which instructions this processor has, and the options that let a compiler use them."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path

LEVELS: dict[str, tuple[str, ...]] = {
    "avx512": ("-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mavx2", "-mfma"),
    "avx2": ("-mavx2", "-mfma"),
    "plain": (),
}
"""Options of the compiler by level, the best first. ``plain`` is what every processor of a kind has."""

_FLAGS = {"avx512": {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx2", "fma"}, "avx2": {"avx2", "fma"}}


@cache
def find_level() -> str:
    """The best level of this processor; ``ELMAN_NATIVE`` may name a lower one."""
    best = next((level for level, flags in _FLAGS.items() if flags <= _read_flags()), "plain")
    asked = os.environ.get("ELMAN_NATIVE", "")
    lower = asked in LEVELS and [*LEVELS].index(asked) >= [*LEVELS].index(best)
    return asked if lower else best


@cache
def is_intel() -> bool:
    """Is it a processor that Intel's libraries use all of?"""
    return "GenuineIntel" in _read_line("vendor_id")


def machine() -> str:
    """The kind of processor and system that a library is for."""
    return f"{platform.system()} {platform.machine()}".lower()


def _read_flags() -> set[str]:
    """The features that Linux lists; none where it lists none."""
    return set(_read_line("flags").split())


def _read_line(name: str) -> str:
    """What Linux says of the first processor under a name; nothing where it says nothing."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((line for line in lines if line.startswith(name)), "")
