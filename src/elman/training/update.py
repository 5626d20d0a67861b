"""One update: its batches' shares, its random numbers, its gradient looked at before it is used."""

from __future__ import annotations

import hashlib
from math import isfinite
from typing import TypeVar

import torch

from elman.errors import DataError, ModelError
from elman.training.average import put
from elman.training.batches import Batches, Group
from elman.training.distributed import World
from elman.training.events import Update
from elman.training.optimizers import set_rate
from elman.training.schedules import rate
from elman.training.settings import Settings
from elman.training.snapshot import Training
from elman.training.step import Step

B = TypeVar("B")


def update(
    training: Training,
    step: Step[B],
    batches: Batches[B],
    group: Group[B],
    settings: Settings,
    world: World,
) -> Update:
    """Change the weights once; where the loss is not finite, leave them and raise a ModelError."""
    net = training.net
    buffers = {name: buffer.clone() for name, buffer in net.named_buffers()}
    weight = sum(batches.weight(batch) for batch in group.batches)
    if not 0 < weight < float("inf"):
        raise DataError(f"the batches of {group.place} weigh {weight}; they must weigh something")
    parts, shares = _portion(batches, group, world, weight, carried=bool(training.state))
    lr = rate(settings, group.progress, training.position.merits)
    set_rate(training.optimizer, lr)
    seed(settings.seed, group.update, world.rank)
    net.train()
    shares_here = torch.tensor(shares, device=next(net.parameters()).device)
    before = training.state if group.start else step.begin(parts[0])
    found, after = step.gradient(parts, shares_here, group.progress, before)
    loss, norm = found.tolist()
    (loss,) = world.sum(loss / world.size)
    if not (isfinite(loss) and isfinite(norm)):
        put(net, buffers)
        if not _recovers(training):
            raise ModelError(_diverged(settings, group, loss, norm))
        after = before
    step.apply()
    training.state = after
    return Update(group.update, group.epoch + 1, group.progress, loss, lr, norm, weight)


def seed(number: int, update: int, rank: int) -> None:
    """Start PyTorch's random numbers anew for an update, on the CPU and the current GPU."""
    text = f"{number} {update} {rank}".encode()
    mixed = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")
    torch.default_generator.manual_seed(mixed)
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.manual_seed(mixed)


def _portion(
    batches: Batches[B], group: Group[B], world: World, total: float, *, carried: bool
) -> tuple[list[B], list[float]]:
    """This process's parts of the batches, and what each counts towards the mean over processes."""
    if world.size == 1:
        return list(group.batches), [batches.weight(batch) / total for batch in group.batches]
    parts, shares = [], []
    for batch in group.batches:
        part = batches.share(batch, world.rank, world.size)
        weight = batches.weight(part)
        # The loss of nothing is undefined: a process left without has it all, and counts for nil. A
        # state that is carried is of the part's rows, and such a loss must cope with nothing itself.
        parts.append(part if weight or carried else batch)
        shares.append(weight * world.size / total)
    return parts, shares


def _recovers(training: Training) -> bool:
    """Whether float16's scaler deals with it: it skips the update and scales the next less."""
    return training.scaler.is_enabled() and training.scaler.get_scale() >= 1


def _diverged(settings: Settings, group: Group[B], loss: float, norm: float) -> str:
    what = f"the loss is {loss}" if not isfinite(loss) else f"the gradient's norm is {norm}"
    clip = f"clip (now {settings.clip:g})" if settings.clip else "clip (now off)"
    return (
        f"{what} at {group.place}; the weights are those before it; "
        f"try a lower lr (now {settings.lr:g}) or {clip}"
    )
