"""Digests of a model folder: config.json holds the SHA-256 of every other file of the model, and its own.

README.md is for people to edit and decides no answer, so it has none; the checkpoint has a digest of its own.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from elman.errors import ModelError
from elman.files.model_files import CELL, CONFIG, METRICS, RUN, TASK_FILES, WEIGHTS

DIGESTS = "sha256"  # the key of config.json

_NEEDED = (WEIGHTS, CELL, *TASK_FILES)
_RECORDS = (METRICS, RUN)  # a folder may be passed on without them
_REMEDY = f"copy the model folder again or, where the change is wanted, remove {DIGESTS!r} from {CONFIG}"

_log = logging.getLogger("elman")


def with_digests(config: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The content of config.json with the digests of all that is in the folder already, and its own."""
    found = {name: _digest_file(folder / name) for name in (*_NEEDED, *_RECORDS) if (folder / name).is_file()}
    content = {**config, DIGESTS: found}
    return {**config, DIGESTS: {CONFIG: _digest_content(content), **found}}


def check_config(stored: Mapping[str, Any], path: Path) -> None:
    """Refuse a configuration that is not the one which was written to ``path``, where it has a digest."""
    if DIGESTS not in stored:
        return
    digests = _digests(stored, path)
    own = digests.pop(CONFIG, None)
    if own != _digest_content({**stored, DIGESTS: digests}):
        raise ModelError(f"{path} was changed after it was written: its digest is another one; {_REMEDY}")


def check_files(stored: Mapping[str, Any], folder: Path) -> None:
    """Refuse a folder whose files are not those that its checked config.json, ``stored``, was written with."""
    if DIGESTS not in stored:
        _log.warning("%s: %s has no digests, so damage to its files would go unseen", folder, CONFIG)
        return
    digests = stored[DIGESTS]
    for name in (*_NEEDED, *_RECORDS):
        path = folder / name
        if not path.is_file():
            if name in digests and name not in _RECORDS:
                raise ModelError(f"{path} is missing; {_REMEDY}")
        elif name not in digests:
            raise ModelError(f"{path} is not of this model: {CONFIG} does not name it; {_REMEDY}")
        elif _digest_file(path) != digests[name]:
            raise ModelError(f"{path} is damaged or was changed: it is not as {CONFIG} says; {_REMEDY}")


def _digests(stored: Mapping[str, Any], path: Path) -> dict[str, Any]:
    digests, known = stored[DIGESTS], {CONFIG, *_NEEDED, *_RECORDS}
    if not isinstance(digests, dict) or not digests.keys() <= known:
        raise ModelError(f"{path} is damaged: its {DIGESTS!r} is no table of the model's files; {_REMEDY}")
    return dict(digests)


def _digest_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror})") from None


def _digest_content(content: Mapping[str, Any]) -> str:
    """Of the values, not of their bytes: blanks and the order of keys may change."""
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
