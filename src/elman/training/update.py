"""One update: its batches' shares, its random numbers, its gradient looked at before it is used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from elman.errors import DataError, ModelError
from elman.number_format import format_number
from elman.training.batches import Batches, BatchGroup
from elman.training.distributed import World
from elman.training.ema import load_weights
from elman.training.events import Update
from elman.training.graphed_step import UpdateStep
from elman.training.optimizers import learning_rate, set_lr
from elman.training.snapshot import TrainState
from elman.training.step import update_rng
from elman.training.training_config import TrainingConfig

B = TypeVar("B")


@dataclass(frozen=True)
class PendingUpdate(Generic[B]):
    """An update that has begun: a GPU computes it while the next batches are prepared."""

    group: BatchGroup[B]
    parts: Sequence[B]
    shares: Tensor
    weight: float
    lr: float
    progress: float
    buffers: dict[str, Tensor]
    before: Any  # the carried state
    after: Any
    result: Callable[[], tuple[float, float]]  # waits for the loss and the norm of the gradient


def launch_update(
    training: TrainState,
    step: UpdateStep[B],
    batches: Batches[B],
    group: BatchGroup[B],
    config: TrainingConfig,
    world: World,
) -> PendingUpdate[B]:
    """Begin an update. Under float16 the scaler refuses a bad gradient by itself, so the weights may change
    before anyone has looked; otherwise they change when ``finish`` has looked at the loss."""
    net = training.net
    buffers = training.copy_buffers()
    weight = sum(batches.weight(batch) for batch in group.batches)
    if not 0 < weight < float("inf"):
        raise DataError(f"the batches of {group.place} weigh {weight}; they must weigh something")
    parts, shares = _portion(batches, group, world, weight, carried=bool(training.state))
    progress = _progress(group, config, training)
    lr = learning_rate(config, progress, training.progress.metric_history)
    set_lr(training.optimizer, lr)
    if not all(module.training for _, module in training.modules):  # to ask is faster than to say it again
        net.train()
    device = next(net.parameters()).device
    here = torch.tensor(shares, device=device)
    try:
        with update_rng(config.seed, group.update, world.rank, device), world.interruptible():
            before = training.state if group.start else step.begin(parts[0])
            found, after = step.gradient(parts, here, progress, before)
    except BaseException:  # a signal, a lack of memory
        load_weights(net, buffers)
        raise
    result = _fetch(found, world)
    if training.scaler.is_enabled():
        step.apply()
    return PendingUpdate(group, parts, here, weight, lr, progress, buffers, before, after, result)


def finish_update(
    training: TrainState, step: UpdateStep[B], launched: PendingUpdate[B], config: TrainingConfig, world: World
) -> Update:
    """Change the weights once; where the loss is not finite, leave them and raise a ModelError.

    What overflows float16 is computed again at half the scale: no batch is left out.
    """
    group, after = launched.group, launched.after
    loss, norm = launched.result()
    while not (isfinite(loss) and isfinite(norm)):
        load_weights(training.net, launched.buffers)
        # float16's scaler has refused the gradient and halved its scale: can it still scale less?
        if not training.scaler.is_enabled() or training.scaler.get_scale() < 1:
            raise ModelError(_describe_divergence(config, group, loss, norm))
        with update_rng(config.seed, group.update, world.rank, launched.shares.device):
            found, after = step.gradient(launched.parts, launched.shares, launched.progress, launched.before)
        result = _fetch(found, world)
        step.apply()
        loss, norm = result()
    if not training.scaler.is_enabled():
        step.apply()
    training.state = after
    number, epoch = group.update, group.epoch + 1
    return Update(number, epoch, launched.progress, loss, launched.lr, norm, launched.weight)


def _progress(group: BatchGroup[B], config: TrainingConfig, training: TrainState) -> float:
    """The share of the run that is done: of its updates or, where the time will be up sooner, of its minutes.

    So a schedule comes to its end in time; a run that was cut off in the middle of it would be worth little.
    """
    if not config.minutes:
        return group.progress
    return max(group.progress, min(1.0, training.progress.seconds / (60 * config.minutes)))


def _fetch(found: Tensor, world: World) -> Callable[[], tuple[float, float]]:
    """Send loss and norm to the CPU; what is returned waits for them alone, not for work begun later."""
    copy = found.to("cpu", non_blocking=True)
    event: Any = torch.cuda.Event() if found.is_cuda else None  # type: ignore[no-untyped-call]
    if event:
        event.record()

    def read() -> tuple[float, float]:
        if event:
            event.synchronize()
        loss, norm = copy.tolist()
        (loss,) = world.sum(loss / world.size)
        return loss, norm

    return read


def _portion(
    batches: Batches[B], group: BatchGroup[B], world: World, total: float, *, carried: bool
) -> tuple[list[B], list[float]]:
    """This process's parts of the batches, and what each counts towards the mean over processes."""
    if world.size == 1:
        return list(group.batches), [batches.weight(batch) / total for batch in group.batches]
    parts, shares = [], []
    for batch in group.batches:
        part = batches.shard(batch, world.rank, world.size)
        weight = batches.weight(part)
        # The loss of nothing is undefined: a process left without has it all, and counts for nil. A
        # state that is carried is of the part's rows, and such a loss must cope with nothing itself.
        parts.append(part if weight or carried else batch)
        shares.append(weight * world.size / total)
    return parts, shares


def _describe_divergence(config: TrainingConfig, group: BatchGroup[B], loss: float, norm: float) -> str:
    what = f"the loss is {loss}" if not isfinite(loss) else f"the gradient's norm is {norm}"
    clip = f"grad_clip (now {format_number(config.grad_clip)})" if config.grad_clip else "grad_clip (now off)"
    return f"{what} at {group.place}; try a lower lr (now {format_number(config.lr)}) or {clip}"
