"""What a resumed run must have in common with its beginning: the contents of its data, not their names."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from elman.files.model_files import CHECKPOINT, CONFIG
from elman.folders.run_folder import RunFolder
from elman.text.fingerprint import digest_file
from elman.training.checkpoint import read_checkpoint_config

_FREE = ("test", "cache")  # no update depends on what is scored at the end, or on where encoded text is kept

Described = Mapping[str, Sequence[Mapping[str, Any]]]  # the files of each part, as the record of a run has them


def with_contents(config: Mapping[str, Any], described: Described) -> dict[str, Any]:
    """The configuration of a run with digests in the place of its files."""
    data = {key: value for key, value in config["data"].items() if key not in _FREE}
    data |= {
        part: _contents(described.get(part, ())) for part in ("train", "valid", "unlabelled") if part in data
    }
    model, vectors = dict(config["model"]), config["model"].get("vectors")
    if vectors and os.path.isfile(vectors):
        model["vectors"] = _name(digest_file(vectors))
    for way in ("lm_forward", "lm_backward"):
        if model.get(way):
            model[way] = name_model(Path(model[way]))
    return {**config, "data": data, "model": model}


def name_model(folder: Path) -> str:
    """A model by its contents: its configuration holds the digests of its other files."""
    return _name(digest_file(folder / CONFIG))


def name_start(init: Path, run: RunFolder) -> str:
    """The model that a run starts from; where the run has put its own in that place, the one that was there."""
    if init.resolve() == run.out.resolve():
        ended, begun = (_read_start(folder / CHECKPOINT) for folder in (run.out, run.work))
        if ended and ended == begun:
            return ended
    return name_model(init)


def _read_start(checkpoint: Path) -> str:
    return str(read_checkpoint_config(checkpoint).get("init", "")) if checkpoint.exists() else ""


def _contents(files: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(_name(file.get("sha256", "nothing")) for file in files)


def _name(digest: str) -> str:
    return f"contents of SHA-256 {digest[:16]}…"
