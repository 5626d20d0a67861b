"""The JSON files of a model folder."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from elman.errors import ModelError
from elman.files.atomic_files import write_atomically

DEEPEST = 50  # lists and tables within each other; what Elman writes has five
_HALF_PAIR = re.compile(r"\\u[dD]")  # how half of a surrogate pair, or a whole one, is written in ASCII


def write_json(path: Path, value: Any) -> None:
    """Write `value`, one item a line, so that two versions can be compared."""
    write_atomically(path, (json.dumps(value, ensure_ascii=False, indent=0) + "\n").encode())


def read_json(path: Path) -> Any:
    """The value in a JSON file; a missing or damaged one is a ModelError."""
    text = read_model_text(path)
    try:
        value = json.loads(text)
        if text.count("[") + text.count("{") > DEEPEST and _is_deeper(value, DEEPEST):
            raise ValueError(f"more than {DEEPEST} lists and tables within each other")
        if _HALF_PAIR.search(text):
            json.dumps(value, ensure_ascii=False).encode()  # no text can hold half of a surrogate pair
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path}: the file is damaged, it is not JSON ({error})") from None
    return value


def read_model_text(path: Path) -> str:
    """The text of a file in a model folder; one that is missing, no file or no text is a ModelError."""
    if path.exists() and not path.is_file():
        raise ModelError(f"{path}: this is not a file")  # to open a pipe would wait for its other end
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise ModelError(f"{path}: the file is damaged, byte {error.start + 1} is not UTF-8") from None


def _is_deeper(value: Any, most: int) -> bool:
    """Whether more than ``most`` lists and tables are within each other; a loop, since recursion has an end."""
    level = [value]
    for _ in range(most):
        items = (item for one in level for item in (one.values() if isinstance(one, dict) else one))
        level = [item for item in items if isinstance(item, dict | list)]
        if not level:
            return False
    return True


def distinct_strings(value: Any, path: Path) -> tuple[str, ...]:
    """`value` where it is a list of different strings."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ModelError(f"{path}: the file is damaged, expected a list of strings")
    if len(set(value)) != len(value):
        raise ModelError(f"{path}: the file is damaged, an entry stands there twice")
    return tuple(value)
