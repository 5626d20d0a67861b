"""The JSON files of a model folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from elman.atomic_files import write_atomically
from elman.errors import ModelError


def write_json(path: Path, value: Any) -> None:
    """Write `value`, one item a line, so that two versions can be compared."""
    write_atomically(path, (json.dumps(value, ensure_ascii=False, indent=0) + "\n").encode())


def read_json(path: Path) -> Any:
    """The value in a JSON file; a missing or damaged one is a ModelError."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path}: the file is damaged, it is not JSON ({error})") from None


def distinct_strings(value: Any, path: Path) -> tuple[str, ...]:
    """`value` where it is a list of different strings."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ModelError(f"{path}: the file is damaged, expected a list of strings")
    if len(set(value)) != len(value):
        raise ModelError(f"{path}: the file is damaged, an entry stands there twice")
    return tuple(value)
