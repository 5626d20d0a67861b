"""A snapshot as one safetensors file: tensors, and the rest as JSON in its metadata.

A digest of all it says finds what a disk may do to it later.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as serialize
from torch import Tensor, nn

from elman.errors import ModelError
from elman.files.atomic_files import temporary_path, write_atomically
from elman.files.utf8_paths import utf8_path
from elman.training.ema import tensors_by_name
from elman.training.optimizers import count_copies
from elman.training.snapshot import Snapshot
from elman.training.training_config import TrainingConfig

_LOG = logging.getLogger(__name__)

FORMAT = "elman checkpoint 2"


def save_checkpoint(path: Path, snapshot: Snapshot, config: Mapping[str, Any]) -> None:
    """Write a snapshot, and the configuration it belongs to, in place of what was at ``path``."""
    state, settings = json.dumps(snapshot.state), json.dumps(config)
    digest = _digest(snapshot.tensors, state, settings)
    metadata = {"format": FORMAT, "state": state, "config": settings, "digest": digest}
    try:
        write_atomically(path, serialize(snapshot.tensors, metadata))
    except OSError as error:
        raise ModelError(f"{path} cannot be written: {error.strerror or error}") from None


def checkpoint_size(net: nn.Module, config: TrainingConfig, *, evaluated: bool) -> int:
    """About how many bytes a checkpoint of a run will have; an evaluated one keeps the best weights, too."""
    weights, parameters = (
        sum(t.numel() * t.element_size() for t in tensors)
        for tensors in (tensors_by_name(net).values(), net.parameters())
    )
    return (1 + evaluated) * weights + count_copies(config) * parameters


def load_checkpoint(path: Path, config: Mapping[str, Any], changeable: Collection[str] = ()) -> Snapshot:
    """The snapshot at ``path``, provided that it is whole and was made with this configuration.

    Keys that are ``changeable`` (``training.lr``) may differ; it is logged.
    """
    temporary_path(path).unlink(missing_ok=True)  # what a killed run left
    tensors, metadata = _read(path)
    if metadata.get("format") != FORMAT:
        raise ModelError(f"{path} is not a checkpoint that this version of elman wrote")
    state, settings = metadata.get("state", ""), metadata.get("config", "")
    if metadata.get("digest") != _digest(tensors, state, settings):
        raise ModelError(f"{path} is damaged: its content is not what was written")
    _check_same(path, json.loads(settings), json.loads(json.dumps(config)), changeable)
    return Snapshot(tensors, json.loads(state))


def read_checkpoint_config(path: Path) -> dict[str, Any]:
    """The configuration that a checkpoint was made with; nothing where a damaged one does not say it."""
    try:
        settings = json.loads(_read(path)[1].get("config", "{}"))
    except (ValueError, RecursionError):
        return {}
    return settings if isinstance(settings, dict) else {}


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    try:
        with utf8_path(path) as named, safe_open(named, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            return tensors, file.metadata() or {}
    except FileNotFoundError:
        raise ModelError(f"{path} does not exist: there is no checkpoint to resume from") from None
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}") from None
    except (SafetensorError, ValueError) as error:
        raise ModelError(f"{path} is damaged or no checkpoint: {error}") from None


def _digest(tensors: Mapping[str, Tensor], *texts: str) -> str:
    digest = hashlib.sha256(json.dumps(texts).encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _check_same(
    path: Path, stored: Mapping[str, Any], given: Mapping[str, Any], changeable: Collection[str]
) -> None:
    old, new = _flat(stored), _flat(given)
    changes = {
        key: f"{key} was {_describe(old, key)} and is {_describe(new, key)}"
        for key in {**old, **new}
        if old.get(key) != new.get(key)
    }
    for key in sorted(changes.keys() & set(changeable)):
        _LOG.info("%s from here on", changes.pop(key))
    if changes:
        said = ", ".join(changes.values())
        raise ModelError(
            f"{path} was made with another configuration: {said}; resume with the old values or start anew"
        )


def _describe(flat: Mapping[str, Any], key: str) -> str:
    return repr(flat[key]) if key in flat else "absent"


def _flat(config: Mapping[str, Any], where: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in config.items():
        if isinstance(value, Mapping) and value:
            flat |= _flat(value, f"{where}{key}.")
        else:
            flat[f"{where}{key}"] = value
    return flat
