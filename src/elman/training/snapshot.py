"""The state of a training run, and copies of it to continue from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from elman.errors import ModelError
from elman.training.batches import Progress
from elman.training.distributed import World
from elman.training.ema import WeightAverage, load_weights, tensors_by_name
from elman.training.stateful_loss import pack_state, unpack_state


@dataclass(frozen=True)
class Snapshot:
    """All that is needed to continue: tensors by name, and the rest as JSON knows it.

    The random numbers of an update follow from the seed and its number alone, so their state is no part of it.
    """

    tensors: dict[str, Tensor]
    state: dict[str, Any]


@dataclass
class TrainState:
    """What changes while a net is trained."""

    net: nn.Module
    optimizer: torch.optim.Optimizer
    scaler: torch.amp.GradScaler
    average: WeightAverage | None
    best: dict[str, Tensor]  # weights of the best evaluation; empty before one
    progress: Progress
    state: Any = ()  # what a loss that carries a state left for the next batch

    @cached_property
    def modules(self) -> tuple[tuple[str, nn.Module], ...]:
        """Those of the net with their names: to walk through it at each update takes as long as a layer."""
        return tuple(self.net.named_modules())

    def copy_buffers(self) -> dict[str, Tensor]:
        """The buffers of the net as they are now, by name."""
        return {
            f"{prefix}.{name}" if prefix else name: buffer.clone()
            for prefix, module in self.modules
            for name, buffer in module._buffers.items()  # to ask each module takes longer than to copy
            if buffer is not None
        }


def take_snapshot(training: TrainState, world: World) -> Snapshot:
    """A copy, on the CPU, of all that changes. All processes take it together: each carries a part."""
    parts: dict[str, Mapping[str, Tensor]] = {
        "net": tensors_by_name(training.net),
        "best": training.best,
        "optimizer": _moments(training),
        "carried": pack_state(training.state, world),
    }
    state: dict[str, Any] = {"progress": asdict(training.progress), "scaler": training.scaler.state_dict()}
    if training.average:
        parts["average"] = training.average.weights
        state["averaged"] = training.average.count
    tensors = {
        f"{part}/{name}": value.detach().to("cpu", copy=True).contiguous()
        for part, values in parts.items()
        for name, value in values.items()
    }
    return Snapshot(tensors, state)


def restore_snapshot(training: TrainState, snapshot: Snapshot, world: World) -> None:
    """Put a run where the snapshot was taken."""
    _check_fits(tensors_by_name(training.net), _part(snapshot, "net"))
    load_weights(training.net, _part(snapshot, "net"))
    training.best = _copies(_part(snapshot, "best"), training.net)
    _restore_moments(training, _part(snapshot, "optimizer"))
    training.scaler.load_state_dict(snapshot.state["scaler"])
    if training.average:
        training.average.weights = _copies(_part(snapshot, "average"), training.net)
        training.average.count = snapshot.state["averaged"]
    device = next(training.net.parameters()).device
    training.state = unpack_state(_part(snapshot, "carried"), world, device)
    progress = snapshot.state["progress"]
    training.progress = Progress(**{**progress, "metric_history": tuple(progress["metric_history"])})


def _part(snapshot: Snapshot, name: str) -> dict[str, Tensor]:
    prefix = f"{name}/"
    return {k[len(prefix) :]: v for k, v in snapshot.tensors.items() if k.startswith(prefix)}


def _copies(values: Mapping[str, Tensor], net: nn.Module) -> dict[str, Tensor]:
    own = tensors_by_name(net)
    return {name: value.to(own[name].device, copy=True) for name, value in values.items()}


def _check_fits(own: Mapping[str, Tensor], stored: Mapping[str, Tensor]) -> None:
    for name in sorted({*own, *stored}):
        shapes = [tuple(side[name].shape) if name in side else None for side in (stored, own)]
        if shapes[0] != shapes[1]:
            there, here = (f"has shape {s}" if s is not None else "is missing" for s in shapes)
            raise ModelError(f"the checkpoint is of another network: {name!r} {there} there and {here} here")


def _names(training: TrainState) -> list[str]:
    """Names of the optimizer's parameters, in its own order."""
    names = {p: name for name, p in training.net.named_parameters()}
    return [names[p] for group in training.optimizer.param_groups for p in group["params"]]


def _moments(training: TrainState) -> dict[str, Tensor]:
    names = _names(training)
    return {
        f"{names[index]}/{key}": value
        for index, moments in training.optimizer.state_dict()["state"].items()
        for key, value in moments.items()
        if value is not None
    }


def _restore_moments(training: TrainState, stored: Mapping[str, Tensor]) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    index = {name: i for i, name in enumerate(_names(training))}
    for path, value in stored.items():
        name, key = path.rsplit("/", 1)
        state.setdefault(index[name], {})[key] = value.clone()
    groups = training.optimizer.state_dict()["param_groups"]
    training.optimizer.load_state_dict({"state": state, "param_groups": groups})
