"""What was measured on a kind of GPU, kept on disk: a small file for each question."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

from elman.formula import Formula
from elman.native.library import find_cache

_VERSION = "7"  # of the kernels: to be counted up where their speed changes


class Note:
    """A small file of the cache, named by the GPU, a formula and what else the answer depends on."""

    def __init__(self, device: torch.device, formula: Formula, parts: Iterable[object]) -> None:
        trace = formula.trace
        values = [*trace.new.values(), *(product.operand for product in trace.products)]
        known = [torch.cuda.get_device_name(device), _VERSION, *(a.key for a in values), *map(str, parts)]
        name = hashlib.sha256("\0".join(known).encode()).hexdigest()[:32]
        self.path: Path = find_cache().with_name("cuda") / f"{name}.json"

    def read(self) -> dict[str, Any] | None:
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None  # not there, or not whole: it is measured again
        return found if isinstance(found, dict) else None

    def write(self, found: dict[str, Any]) -> dict[str, Any]:
        with suppress(OSError):  # a folder that cannot be written, a full disk: it is measured again
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=self.path.parent, delete=False) as file:
                json.dump(found, file)
            os.replace(file.name, self.path)
        return found
