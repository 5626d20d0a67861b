"""A model folder, written and read: config.json, model.safetensors, vocabularies, metrics.json, README.md.

A model is written beside what is in the folder, and takes its place when it is complete.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, overload

from safetensors.torch import save as save_tensors

from elman.argument_checks import check_arguments
from elman.artifact.model_cell import with_model_cell, write_cell
from elman.artifact.model_digests import DIGESTS, check_config, check_files, with_digests
from elman.artifact.model_weights import PRECISIONS, check_numbers, check_weights, read_weights, round_weights
from elman.config import build_config, to_plain
from elman.devices import choose_device, find_device
from elman.errors import ArgumentError, ConfigError, ModelError, check_option, printable, quote
from elman.files.atomic_files import write_atomically
from elman.files.model_files import CARD, CONFIG, METRICS, RUN, WEIGHTS
from elman.folders.folder_contents import find_run
from elman.folders.folder_swap import read_settled
from elman.folders.output_folder import claim_for_saving, parse_folder
from elman.tasks.base import Task
from elman.tasks.building_limit import limit_to_weights
from elman.tasks.registry import TASKS
from elman.tasks.results import ModelRecord
from elman.tasks.user_methods import UserMethods
from elman.text.json_io import read_json
from elman.text.tables.in_memory import StrPath

FORMAT = 2

T = TypeVar("T", bound=UserMethods[Any])


@check_arguments
def save_model(task: Task, folder: StrPath, *, overwrite: bool = False) -> None:
    """Write a model folder as training would: with the record of how the model was trained, if it was.

    A model that is there is replaced when the new one is complete; with ``overwrite`` also files of the same
    names that Elman did not write.
    """
    with claim_for_saving(parse_folder(folder), overwrite=overwrite) as staging:
        write_model(task, task.record or _make_record(task), staging)


def write_model(task: Task, record: ModelRecord, folder: Path) -> None:
    """Write the files of a model into an empty folder."""
    tensors = {name: t.detach().cpu().contiguous() for name, t in task.net.state_dict().items()}
    check_numbers(tensors, folder / WEIGHTS)
    task.save_vocab(folder)
    write_cell(task.config.cell, folder)
    write_atomically(folder / WEIGHTS, save_tensors(tensors))
    write_atomically(folder / METRICS, (json.dumps(record.metrics, indent=2) + "\n").encode())
    write_atomically(folder / CARD, printable(record.card).encode())
    if record.run:
        write_run(folder, record.run)
    stored = with_digests({"elman": FORMAT, **record.config}, folder)
    write_atomically(folder / CONFIG, (json.dumps(stored, indent=2, ensure_ascii=False) + "\n").encode())


def _make_record(task: Task) -> ModelRecord:
    config = {"task": task.spec.name, "data": to_plain(task.defaults.data), "model": to_plain(task.config)}
    return ModelRecord(task.defaults.data, config, {}, brief_card(task, "not trained"))


def write_run(folder: Path, run: Mapping[str, Any]) -> None:
    """Write ``run.json``, the record of how the model in a folder was trained."""
    write_atomically(folder / RUN, (json.dumps(run, indent=2, ensure_ascii=False) + "\n").encode())


def brief_card(task: Task, note: str) -> str:
    """The README.md of a model that no recipe trained."""
    title, _, facts = task.card_info()
    return "\n".join([f"# {title} by Elman", "", *(f"- {fact}" for fact in (*facts, note)), ""])


@overload
def load(
    folder: StrPath,
    task: None = None,
    *,
    device: str = "auto",
    precision: str = "float32",
    options: Any = None,
    cell: Any = None,
) -> Task: ...


@overload
def load(
    folder: StrPath,
    task: type[T],
    *,
    device: str = "auto",
    precision: str = "float32",
    options: Any = None,
    cell: Any = None,
) -> T: ...


@check_arguments
def load(
    folder: StrPath,
    task: type[T] | None = None,
    *,
    device: str = "auto",
    precision: str = "float32",
    options: Any = None,
    cell: Any = None,
) -> Task | T:
    """The model in a folder, which must be one of ``task`` where that is given; nothing in it is executed.

    ``options`` stand for the stored ones of the model. ``cell`` is for a model whose cell is code, which a
    folder does not hold: the class, or ``"FILE.py:NAME"``. ``auto`` is a GPU where there is one. With the
    ``precision`` bfloat16 matrices are rounded to 8 bits, which a CPU reads in half the time; sums are float32.
    """
    if task is not None and not issubclass(task, Task):
        raise ArgumentError(
            f"load: task is {task.__name__}; it must be a class such as elman.Classifier, or None"
        )
    path, device = parse_folder(folder), choose_device(device)
    find_device(device)  # before anything is read
    check_option("precision", repr(precision), precision in PRECISIONS, " or ".join(PRECISIONS))
    model = read_settled(path, lambda: _load(path, task, device, (options, cell)))
    if precision == "bfloat16":
        round_weights(model.net)
    return model


def _load(folder: Path, task: type[T] | None, device: str, given: tuple[Any, Any]) -> Task | T:
    config = _read_config(folder)
    spec = TASKS[config["task"]]
    if task is not None and task.spec != spec:
        raise ModelError(f"{folder} holds {spec.title}, not {task.spec.title}")
    check_files(config, folder)
    options, cell = given
    network = with_model_cell(config["model"], folder, cell)
    weights = read_weights(folder / WEIGHTS)
    try:
        kind = spec.load()
        options = options or build_config(type(kind.defaults.model), network)
        with limit_to_weights(weights):
            model = kind.from_folder(options, folder, weights)
        check_weights(weights, model.net, folder / WEIGHTS)
        model.net.load_state_dict(weights)
        data = build_config(type(kind.defaults.data), config["data"])
    except (ConfigError, LookupError, TypeError, ValueError, ArithmeticError, RuntimeError) as error:
        reason = (str(error).splitlines() or [""])[-1].strip() or type(error).__name__
        raise ModelError(f"{folder}: config.json and model.safetensors disagree: {reason[:300]}") from None
    # A folder may be passed on without these, and people edit the card with what they have.
    scores, run = (_read_record(folder / name) for name in (METRICS, RUN))
    card = (folder / CARD).read_text("utf-8", "replace") if (folder / CARD).is_file() else ""
    for key in ("elman", DIGESTS):
        config.pop(key, None)  # they are of this folder, not of the model
    model.record = ModelRecord(data, config, scores, card, run=run)
    model.net.to(device).eval()
    return model


def _read_record(path: Path) -> dict[str, Any]:
    record = read_json(path) if path.is_file() else {}
    if not isinstance(record, dict):
        raise ModelError(f"{path} is damaged: it holds no table")
    return record


def read_config(folder: Path) -> dict[str, Any]:
    """The configuration of a model folder, checked to be one."""
    return read_settled(folder, lambda: _read_config(folder))


def _read_config(folder: Path) -> dict[str, Any]:
    path = folder / CONFIG
    if not folder.is_dir():
        found = "this is a file, not a model" if folder.exists() else "there is no such"
        raise ModelError(f"{folder}: {found} folder")
    if not path.exists():
        hint = "; its training was not finished, go on with --resume" if find_run(folder) else ""
        raise ModelError(f"{folder} is no model folder: it has no config.json{hint}")
    config = read_json(path)
    if not isinstance(config, dict) or not {"elman", "task"} <= config.keys():
        raise ModelError(f"{path} is damaged: it has no keys 'elman' and 'task'")
    version, task = config["elman"], config["task"]
    if version != FORMAT:
        older = isinstance(version, int) and version < FORMAT
        what = "an older Elman wrote it: train the model again" if older else "update Elman"
        said = f"the model folder has format {version}, this version reads {FORMAT}"
        raise ModelError(f"{folder}: {said}; {what}")
    check_config(config, path)
    if not isinstance(task, str) or task not in TASKS:
        raise ModelError(f"{path}: this version of Elman has no task {quote(str(task))}")
    for part in ("data", "model"):
        if not isinstance(config.get(part), dict):
            raise ModelError(f"{path} is damaged: it has no table {part!r}")
    return config
