"""Packages that not everybody has: imported where they are needed, missed in one sentence."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from elman.errors import DataError


def import_optional(package: str, extra: str, purpose: str) -> Any:
    """A package of one of Elman's extras; ``purpose`` says what it is needed for."""
    try:
        return import_module(package)
    except ImportError:
        name = package.split(".")[0]
        raise DataError(f'{purpose}, install {name}: pip install "elman[{extra}]"') from None
