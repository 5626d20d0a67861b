"""A model as the files of its folder in memory: what a pickle or another library's file can hold of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from elman.artifact import load, save_model
from elman.errors import ModelError
from elman.tasks.base import Task
from elman.tasks.user_methods import UserMethods

T = TypeVar("T", bound=UserMethods[Any])


def model_to_files(model: Task) -> dict[str, bytes]:
    """The content of every file of its folder, by name."""
    with TemporaryDirectory() as folder:
        save_model(model, folder)
        return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def model_from_files(files: Mapping[str, bytes], task: type[T], *, device: str = "cpu") -> T:
    """The model whose files `model_to_files` gave."""
    with TemporaryDirectory() as folder:
        for name, content in files.items():
            if Path(name).name != name:
                raise ModelError(f"{name!r} is no file of a model folder")
            (Path(folder) / name).write_bytes(content)
        return load(folder, task, device=device)
