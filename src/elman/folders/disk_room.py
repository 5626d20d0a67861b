"""Is there room on the disk for what a run will write? Asked before its first update."""

from __future__ import annotations

import shutil
from pathlib import Path

from elman.errors import ConfigError
from elman.number_format import format_size


def check_room(folder: Path, checkpoint: int, existing: int = 0) -> None:
    """Refuse a disk on which a checkpoint of so many bytes cannot replace another; one may be there already."""
    needed, free = 2 * checkpoint - existing, shutil.disk_usage(folder).free
    if needed > free:
        why = f"a checkpoint takes {format_size(checkpoint)}, and two while one replaces the other"
        there = f"{folder}: {format_size(free)} are free on its disk"
        raise ConfigError(
            f"{there}, but the run needs {format_size(needed)} ({why}); make room, or give another folder"
        )


def file_size(path: Path) -> int:
    """The bytes of a file; 0 where there is none."""
    return path.stat().st_size if path.exists() else 0
