"""One model of several: the mean of their weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from elman import artifact
from elman.errors import ConfigError
from elman.files.model_files import DECISION
from elman.folders.output_folder import check_may_begin
from elman.pipeline.start_model import differing_options
from elman.shapes import Tensor
from elman.tasks.base import Task


def average(folders: Sequence[Path], out: Path, *, overwrite: bool = False, cell: Any = None) -> Task:
    """Write the mean of the models in some folders, all alike but for their weights, into another.

    The mean of models that were trained apart is no better than chance: average what one run left at
    several times, or what was trained on from one model with ``init``. What ``out`` holds is replaced with
    ``overwrite`` only. ``cell`` is as in `elman.load`.
    """
    check_may_begin(out, overwrite=overwrite)
    if len(folders) < 2:
        raise ConfigError("a mean needs two folders at least")
    models = [artifact.load(folder, device="cpu", cell=cell) for folder in folders]
    for folder, model in zip(folders[1:], models[1:], strict=True):
        _require_alike(models[0], model, f"{folders[0]} and {folder}")
    first, *others = (model.net.state_dict() for model in models)
    mean = {name: _mean([weights, *(o[name] for o in others)]) for name, weights in first.items()}
    models[0].net.load_state_dict(mean)
    models[0].average_decision(models[1:])
    names = [str(folder) for folder in folders]
    card = artifact.brief_card(models[0], f"weights: the mean of those in {', '.join(names)}")
    assert models[0].record  # every folder has one
    models[0].record = models[0].record._replace(metrics={"averaged": names}, card=card, run={})
    artifact.save_model(models[0], out, overwrite=overwrite)
    return models[0]


def _require_alike(one: Task, other: Task, both: str) -> None:
    """Refuse models whose weights do not mean the same."""
    if type(one) is not type(other):
        raise ConfigError(f"{both} are of two tasks: a {type(one).__name__} and a {type(other).__name__}")
    for name, left, right in differing_options(one.config, other.config):
        raise ConfigError(f"{both} differ: model.{name} is {left!r} in one, {right!r} in the other")
    if _vocab_bytes(one) != _vocab_bytes(other):
        raise ConfigError(f"{both} have other vocabularies: they were not trained on the same data")
    shapes = [{n: w.shape for n, w in task.net.state_dict().items()} for task in (one, other)]
    if shapes[0] != shapes[1]:
        raise ConfigError(f"{both} have weights of other shapes")


def _vocab_bytes(task: Task) -> dict[str, bytes]:
    """All of a model folder that was not trained or chosen."""
    with TemporaryDirectory() as folder:
        task.save_vocab(Path(folder))
        return {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.name != DECISION}


def _mean(weights: Sequence[Tensor]) -> Tensor:
    """The mean; of what is no number with a point, such as which vectors are trained, the first."""
    first = weights[0]
    if not first.is_floating_point():
        if not all(torch.equal(first, other) for other in weights[1:]):
            raise ConfigError("the models differ in which of their weights are trained")
        return first
    return torch.stack([w.double() for w in weights]).mean(0).to(first.dtype)
