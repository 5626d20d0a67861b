"""Where a run took place: the software, the machine, the state of the working directory. Nobody's name."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

import torch

import elman


def software_versions() -> dict[str, str]:
    """The versions that numbers may depend on."""
    return {"elman": elman.__version__, "torch": torch.__version__, "python": platform.python_version()}


def count_cores() -> int:
    """The cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on every system
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def describe_machine(device: str) -> dict[str, Any]:
    """The processors, by their names, and how many are used."""
    facts: dict[str, Any] = {
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu_name(),
        "cores": count_cores(),
        "threads": torch.get_num_threads(),
    }
    if device == "cuda":
        facts["gpu"] = torch.cuda.get_device_name()
    if (processes := int(os.environ.get("WORLD_SIZE", 1))) > 1:  # as torchrun sets it
        facts["processes"] = processes
    return facts


def git_revision() -> str | None:
    """The commit of the working directory, ``-dirty`` where files were changed since; None: no repository."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip() or None


def hide_home(path: str) -> str:
    """A path without the name of whose home it is in."""
    home = str(Path.home())
    return f"~{path[len(home) :]}" if path == home or path.startswith(home + os.sep) else path


def _cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # only Linux has that file
    return platform.processor() or platform.machine()
