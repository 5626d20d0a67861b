"""One update: its batches' shares, its random numbers, its gradient looked at before it is used."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

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


@dataclass(frozen=True)
class Launched(Generic[B]):
    """An update that has begun: a GPU computes it while the next batches are prepared."""

    group: Group[B]
    parts: Sequence[B]
    shares: Tensor
    weight: float
    lr: float
    progress: float
    buffers: dict[str, Tensor]
    before: Any  # the carried state
    after: Any
    found: Tensor  # loss and norm of the gradient, on their way to the CPU
    ready: Callable[[], None]  # waits for them


def launch(
    training: Training,
    step: Step[B],
    batches: Batches[B],
    group: Group[B],
    settings: Settings,
    world: World,
) -> Launched[B]:
    """Begin an update. Under float16 the scaler refuses a bad gradient by itself, so the weights may change
    before anyone has looked; otherwise they change when ``finish`` has looked at the loss."""
    net = training.net
    buffers = {name: buffer.clone() for name, buffer in net.named_buffers()}
    weight = sum(batches.weight(batch) for batch in group.batches)
    if not 0 < weight < float("inf"):
        raise DataError(f"the batches of {group.place} weigh {weight}; they must weigh something")
    parts, shares = _portion(batches, group, world, weight, carried=bool(training.state))
    progress = _progress(group, settings, training)
    lr = rate(settings, progress, training.position.merits)
    set_rate(training.optimizer, lr)
    net.train()
    here = torch.tensor(shares, device=next(net.parameters()).device)
    before = training.state if group.start else step.begin(parts[0])
    seed(settings.seed, group.update, world.rank)
    found, after = step.gradient(parts, here, progress, before)
    found, ready = _fetched(found)
    if training.scaler.is_enabled():
        step.apply()
    return Launched(group, parts, here, weight, lr, progress, buffers, before, after, found, ready)


def finish(
    training: Training, step: Step[B], launched: Launched[B], settings: Settings, world: World
) -> Update:
    """Change the weights once; where the loss is not finite, leave them and raise a ModelError.

    What overflows float16 is computed again at half the scale: no batch is left out.
    """
    group, after = launched.group, launched.after
    loss, norm = _looked(launched.found, launched.ready, world)
    while not (isfinite(loss) and isfinite(norm)):
        put(training.net, launched.buffers)
        if not _recovers(training):
            raise ModelError(_diverged(settings, group, loss, norm))
        seed(settings.seed, group.update, world.rank)
        found, after = step.gradient(
            launched.parts, launched.shares, launched.progress, launched.before
        )
        found, ready = _fetched(found)
        step.apply()
        loss, norm = _looked(found, ready, world)
    if not training.scaler.is_enabled():
        step.apply()
    training.state = after
    number, epoch = group.update, group.epoch + 1
    return Update(number, epoch, launched.progress, loss, launched.lr, norm, launched.weight)


def _progress(group: Group[B], settings: Settings, training: Training) -> float:
    """The share of the run that is done: of its updates or, where the time will be up sooner, of its minutes.

    So a schedule comes to its end in time; a run that was cut off in the middle of it would be worth little.
    """
    if not settings.minutes:
        return group.progress
    return max(group.progress, min(1.0, training.position.seconds / (60 * settings.minutes)))


def _fetched(found: Tensor) -> tuple[Tensor, Callable[[], None]]:
    """The numbers on their way to the CPU, and what waits for them alone, not for work begun later."""
    if not found.is_cuda:
        return found, lambda: None
    copy = found.to("cpu", non_blocking=True)
    event: Any = torch.cuda.Event()  # type: ignore[no-untyped-call]
    event.record()
    return copy, event.synchronize


def _looked(found: Tensor, ready: Callable[[], None], world: World) -> tuple[float, float]:
    ready()
    loss, norm = found.tolist()
    (loss,) = world.sum(loss / world.size)
    return loss, norm


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
    """Whether float16's scaler can still scale less: it has refused the gradient and halved its scale."""
    return training.scaler.is_enabled() and training.scaler.get_scale() >= 1


def _diverged(settings: Settings, group: Group[B], loss: float, norm: float) -> str:
    what = f"the loss is {loss}" if not isfinite(loss) else f"the gradient's norm is {norm}"
    clip = f"clip (now {settings.clip:g})" if settings.clip else "clip (now off)"
    return (
        f"{what} at {group.place}; the weights are those before it; "
        f"try a lower lr (now {settings.lr:g}) or {clip}"
    )
