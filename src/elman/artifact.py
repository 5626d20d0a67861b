"""A model folder, written and read: config.json, model.safetensors, vocabularies, metrics.json, README.md.

config.json is written last and removed first, so a folder that has one is whole.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as save_tensors

from elman.config import build
from elman.errors import ConfigError, ModelError
from elman.tasks.kinds import TASKS, Task

FORMAT = 1


def save(
    task: Task,
    folder: Path,
    *,
    config: Mapping[str, Any],
    metrics: Mapping[str, Any],
    card: str,
) -> None:
    """Write the whole folder; whatever else lies in it (checkpoint, log) stays."""
    folder.mkdir(parents=True, exist_ok=True)
    marker = folder / "config.json"
    marker.unlink(missing_ok=True)
    task.store(folder)
    tensors = {name: t.detach().cpu().contiguous() for name, t in task.net.state_dict().items()}
    _write(folder / "model.safetensors", save_tensors(tensors))
    _write(folder / "metrics.json", (json.dumps(metrics, indent=2) + "\n").encode())
    _write(folder / "README.md", card.encode())
    stored = json.dumps({"elman": FORMAT, **config}, indent=2, ensure_ascii=False) + "\n"
    _write(marker, stored.encode())


def load(folder: str | Path, *, device: str = "cpu", options: Any = None) -> Task:
    """The model in a folder; nothing in it is executed. ``options`` stand for the stored ones of the model."""
    folder = Path(folder)
    config = read_config(folder)
    try:
        weights = load_file(folder / "model.safetensors")
    except (OSError, SafetensorError) as error:
        raise ModelError(f"{folder / 'model.safetensors'} cannot be read: {error}") from None
    try:
        kind = TASKS[config["task"]]
        task = kind.restore(options or build(kind.model, config["model"]), folder, weights)
        task.net.load_state_dict(weights)
    except (ConfigError, KeyError, RuntimeError) as error:
        reason = str(error).splitlines()[-1].strip()
        raise ModelError(
            f"{folder}: config.json and model.safetensors disagree: {reason}"
        ) from None
    task.net.to(device).eval()
    return task


def read_config(folder: Path) -> dict[str, Any]:
    """The configuration of a model folder, checked to be one."""
    path = folder / "config.json"
    if not folder.is_dir():
        found = "this is a file, not a model" if folder.exists() else "there is no such"
        raise ModelError(f"{folder}: {found} folder")
    if not path.exists():
        left = (folder / "checkpoint.safetensors").exists()
        hint = "; its training was not finished, go on with --resume" if left else ""
        raise ModelError(f"{folder} is no model folder: it has no config.json{hint}")
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
        version, task = config["elman"], config["task"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path} is damaged: {error!r}") from None
    if version != FORMAT or task not in TASKS:
        raise ModelError(
            f"{path}: this version of Elman cannot read a {task!r} of format {version}"
        )
    for part in ("data", "model"):
        if not isinstance(config.get(part), dict):
            raise ModelError(f"{path} is damaged: it has no table {part!r}")
    return dict(config)


def _write(path: Path, content: bytes) -> None:
    """The whole file or the one before, never a part."""
    temporary = path.with_name(path.name + ".tmp")
    with open(temporary, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
