"""A model folder, written and read: config.json, model.safetensors, vocabularies, metrics.json, README.md.

config.json is written last and removed first, so a folder that has one is whole.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, overload

from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as save_tensors

from elman.atomic_files import write_atomically
from elman.config import build_config, to_plain
from elman.errors import ConfigError, ModelError
from elman.model_files import CARD, CHECKPOINT, CONFIG, METRICS, RUN, WEIGHTS, remove_files
from elman.tasks.base import Task
from elman.tasks.registry import TASKS
from elman.tasks.results import ModelRecord
from elman.tasks.user_methods import UserMethods
from elman.text.json_io import read_json
from elman.text.tables.in_memory import StrPath

FORMAT = 2

T = TypeVar("T", bound=UserMethods[Any])


def save(task: Task, folder: Path, *, config: Mapping[str, Any], metrics: Mapping[str, Any], card: str) -> None:
    """Write the whole folder; whatever else lies in it (checkpoint, log) stays."""
    folder.mkdir(parents=True, exist_ok=True)
    marker = folder / CONFIG
    marker.unlink(missing_ok=True)
    task.save_vocab(folder)
    tensors = {name: t.detach().cpu().contiguous() for name, t in task.net.state_dict().items()}
    write_atomically(folder / WEIGHTS, save_tensors(tensors))
    write_atomically(folder / METRICS, (json.dumps(metrics, indent=2) + "\n").encode())
    write_atomically(folder / CARD, card.encode())
    remove_files(folder, [RUN])  # of an earlier model
    stored = json.dumps({"elman": FORMAT, **config}, indent=2, ensure_ascii=False) + "\n"
    write_atomically(marker, stored.encode())


def save_model(task: Task, folder: StrPath) -> None:
    """Write a model folder as training would: with the record of how the model was trained, if it was."""
    if record := task.record:
        save(task, Path(folder), config=record.config, metrics=record.metrics, card=record.card)
        if record.run:
            write_run(Path(folder), record.run)
        return
    config = {"task": task.spec.name, "data": to_plain(task.defaults.data), "model": to_plain(task.config)}
    save(task, Path(folder), config=config, metrics={}, card=brief_card(task, "not trained"))


def write_run(folder: Path, run: Mapping[str, Any]) -> None:
    """Write ``run.json``, the record of how the model in a folder was trained."""
    write_atomically(folder / RUN, (json.dumps(run, indent=2, ensure_ascii=False) + "\n").encode())


def brief_card(task: Task, note: str) -> str:
    """The README.md of a model that no recipe trained."""
    title, _, facts = task.card_info()
    return "\n".join([f"# {title} by Elman", "", *(f"- {fact}" for fact in (*facts, note)), ""])


@overload
def load(folder: StrPath, task: None = None, *, device: str = "cpu", options: Any = None) -> Task: ...


@overload
def load(folder: StrPath, task: type[T], *, device: str = "cpu", options: Any = None) -> T: ...


def load(folder: StrPath, task: type[T] | None = None, *, device: str = "cpu", options: Any = None) -> Task | T:
    """The model in a folder, which must be one of ``task`` where that is given; nothing in it is executed.

    ``options`` stand for the stored ones of the model.
    """
    folder = Path(folder)
    config = read_config(folder)
    spec = TASKS[config["task"]]
    if task is not None and task.spec != spec:
        raise ModelError(f"{folder} holds {spec.title}, not {task.spec.title}")
    try:
        weights = load_file(folder / WEIGHTS)
    except (OSError, SafetensorError) as error:
        raise ModelError(f"{folder / WEIGHTS} cannot be read: {error}") from None
    try:
        kind = spec.load()
        options = options or build_config(type(kind.defaults.model), config["model"])
        model = kind.from_folder(options, folder, weights)
        model.net.load_state_dict(weights)
        data = build_config(type(kind.defaults.data), config["data"])
    except (ConfigError, KeyError, RuntimeError) as error:
        reason = str(error).splitlines()[-1].strip()
        raise ModelError(f"{folder}: config.json and model.safetensors disagree: {reason}") from None
    metrics, card = folder / METRICS, folder / CARD  # a folder may be passed on without them
    scores, run = (read_json(path) if path.exists() else {} for path in (metrics, folder / RUN))
    del config["elman"]
    model.record = ModelRecord(data, config, scores, card.read_text("utf-8") if card.exists() else "", run=run)
    model.net.to(device).eval()
    return model


def read_config(folder: Path) -> dict[str, Any]:
    """The configuration of a model folder, checked to be one."""
    path = folder / CONFIG
    if not folder.is_dir():
        found = "this is a file, not a model" if folder.exists() else "there is no such"
        raise ModelError(f"{folder}: {found} folder")
    if not path.exists():
        left = (folder / CHECKPOINT).exists()
        hint = "; its training was not finished, go on with --resume" if left else ""
        raise ModelError(f"{folder} is no model folder: it has no config.json{hint}")
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
        version, task = config["elman"], config["task"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path} is damaged: {error!r}") from None
    if version != FORMAT:
        older = isinstance(version, int) and version < FORMAT
        what = "an older Elman wrote it: train the model again" if older else "update Elman"
        said = f"the model folder has format {version}, this version reads {FORMAT}"
        raise ModelError(f"{folder}: {said}; {what}")
    if task not in TASKS:
        raise ModelError(f"{path}: this version of Elman has no task {task!r}")
    for part in ("data", "model"):
        if not isinstance(config.get(part), dict):
            raise ModelError(f"{path} is damaged: it has no table {part!r}")
    return dict(config)
