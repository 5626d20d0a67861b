"""How much memory is left, and an error of one sentence for what would not fit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from math import inf
from pathlib import Path

from elman.errors import ConfigError
from elman.number_format import format_size

# The limit of a control group and what it uses, in its two versions.
_FILES = {"": ("memory.max", "memory.current"), "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes")}


def check_memory(needed: float, what: str, remedy: str, device: str = "cpu") -> None:
    """Refuse what needs more bytes than are free where it is to be computed."""
    free = free_memory(device)
    if needed > free:
        where = "on the GPU" if device.startswith("cuda") else "here"
        sizes = f"about {format_size(needed)}, but {format_size(free)} are free {where}"
        raise ConfigError(f"{what} would need {sizes}: {remedy}")


def free_memory(device: str = "cpu", root: Path = Path("/")) -> float:
    """Bytes that can still be had: of the machine, of the control group, and by the limits of the process."""
    if device.startswith("cuda"):
        import torch

        free, _ = torch.cuda.mem_get_info(device)
        return float(free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device))
    return max(0.0, min(_machine(root), _process(root), *_control_groups(root)))


def _machine(root: Path) -> float:
    for line in _lines(root / "proc/meminfo"):
        name, _, size = line.partition(":")
        if name == "MemAvailable":
            return float(size.split()[0]) * 1024
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):  # not on every system
        return inf


def _process(root: Path) -> float:
    if not find_spec("resource"):  # not on every system
        return inf
    import resource

    used = dict(line.partition(":")[::2] for line in _lines(root / "proc/self/status"))
    left = [inf]
    for what, name in ((resource.RLIMIT_AS, "VmSize"), (resource.RLIMIT_DATA, "VmData")):
        limit, _ = resource.getrlimit(what)
        if limit != resource.RLIM_INFINITY:
            left.append(float(limit) - 1024 * float(used.get(name, "0").split()[0]))
    return min(left)


def _control_groups(root: Path) -> Iterator[float]:
    """What each group that the process is in leaves it: a container, a job of a cluster."""
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers not in _FILES:
            continue
        base = root / "sys/fs/cgroup" / controllers
        inner = base / path.strip("/")
        for folder in (inner, *inner.parents):
            if folder.is_relative_to(base):
                limit, used = (_number(folder / name) for name in _FILES[controllers])
                yield limit - used + _reclaimable(folder) if used < inf else inf


def _reclaimable(folder: Path) -> float:
    """Pages of files that are given back when memory is needed."""
    for line in _lines(folder / "memory.stat"):
        name, _, size = line.partition(" ")
        if name in ("inactive_file", "total_inactive_file"):
            return float(size)
    return 0.0


def _number(path: Path) -> float:
    text = next(iter(_lines(path)), "max")
    return float(text) if text.isdecimal() else inf


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
