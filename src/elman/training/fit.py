"""The training loop. It yields what happened; whoever consumes it prints, plots, saves or stops."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import nullcontext
from dataclasses import replace
from typing import TypeVar

import torch
from torch import Tensor, nn

from elman.errors import ConfigError, ElmanError
from elman.training.average import Average, put
from elman.training.batches import Batches, Group, groups
from elman.training.carry import Carrying, carrying
from elman.training.distributed import World, joined
from elman.training.events import Checkpoint, End, Event
from elman.training.graph import Captured
from elman.training.optimizers import make_optimizer
from elman.training.position import Position, ending
from elman.training.schedules import triggered
from elman.training.settings import Settings
from elman.training.snapshot import Snapshot, Training, restore, take
from elman.training.step import Eager, Loss, Step
from elman.training.update import finish, launch, seed
from elman.training.validation import Validation, judge

B = TypeVar("B")


def fit(
    net: nn.Module,
    batches: Batches[B],
    loss: Callable[[B, float], Tensor] | Carrying[B],
    settings: Settings,
    validation: Validation | None = None,
    *,
    resume: Snapshot | None = None,
) -> Generator[Event, None, None]:
    """Train ``net`` to make ``loss(batch, progress)``, a mean, small; a `Carrying` loss goes on from the
    state that the batch before left.

    The gradient of an update is Σ wᵢ gᵢ / Σ wᵢ over its batches and processes, wᵢ their weights.
    At the end the net holds the weights of the best evaluation, or where there is none the averaged
    or last ones; if a loss is not finite, those of the last good update. Each update's random
    numbers (dropout) follow from the seed and its number, whatever happened before: with the same
    seed and data the same bits on a CPU, resumed or not.
    """
    device = next(net.parameters()).device
    halves = settings.precision == "float16"
    wanted = ["graph = true"] * settings.graph + ["precision = 'float16'"] * halves
    if device.type != "cuda" and wanted:
        raise ConfigError(
            f"only a GPU can do {' and '.join(wanted)}, but the net is on the {device.type.upper()}; "
            "there set training.graph=false and training.precision=float32"
        )
    judged = settings.schedule == "plateau" or settings.optimizer == "ntasgd" or settings.patience
    if judged and validation is None:
        raise ConfigError("the plateau schedule, ntasgd and patience need validation data")
    return _events(net, batches, loss, settings, validation, resume)


def _events(
    net: nn.Module,
    batches: Batches[B],
    loss: Callable[[B, float], Tensor] | Carrying[B],
    settings: Settings,
    validation: Validation | None,
    resume: Snapshot | None,
) -> Generator[Event, None, None]:
    with joined(next(net.parameters()).device) as world:
        training = _begin(net, settings)
        if (snapshot := world.first(resume)) is not None:
            restore(training, snapshot, world)
        yield from _updates(training, batches, loss, settings, validation, world)
        _deliver(training)
        reason = ending(settings, training.position)
        assert reason
        yield End(training.position.update, reason, training.position.scores)


def _updates(
    training: Training,
    batches: Batches[B],
    loss: Callable[[B, float], Tensor] | Carrying[B],
    settings: Settings,
    validation: Validation | None,
    world: World,
) -> Generator[Event, None, None]:
    step = _step(loss, training, settings, world)
    saved = training.position.seconds
    begun = time.monotonic() - saved
    stream = groups(batches, settings, training.position)
    upcoming = next(stream, None)
    while not ending(settings, training.position):
        assert upcoming is not None
        group = upcoming
        try:
            launched = launch(training, step, batches, group, settings, world)
            upcoming = next(stream, None)  # prepared while a GPU computes
            event = finish(training, step, launched, settings, world)
        except ElmanError:
            yield Checkpoint(training.position.update, True, lambda: take(training, world))
            raise
        (seconds,) = world.sum(0.0 if world.rank else time.monotonic() - begun)
        training.position = _after(training.position, group, seconds)
        if training.average and (settings.average or training.average.count):
            training.average.update(training.net)
        yield event
        pause = _evaluates(settings, group) or bool(ending(settings, training.position))
        if validation and pause:
            yield from _evaluation(training, validation, settings, world)
        due = pause or 0 < 60 * settings.checkpoint_minutes <= seconds - saved
        saved = seconds if due else saved
        yield Checkpoint(group.update, due, lambda: take(training, world))


def _begin(net: nn.Module, settings: Settings) -> Training:
    average = None
    if settings.average or settings.optimizer == "ntasgd":
        average = Average(net, settings.average or 1.0)
    scaler = torch.amp.GradScaler("cuda", enabled=settings.precision == "float16")
    return Training(net, make_optimizer(net, settings), scaler, average, {}, Position())


def _step(
    loss: Callable[[B, float], Tensor] | Carrying[B],
    training: Training,
    settings: Settings,
    world: World,
) -> Step[B]:
    carried = carrying(loss)
    module = world.wrap(Loss(training.net, carried, settings.precision == "float16"))
    eager: Eager[B] = Eager(module, carried, training, settings.clip)
    if not settings.graph:
        return eager
    if world.size > 1:
        raise ConfigError("graph = true is for one process; leave it off under torchrun")
    return Captured(eager)


def _after(position: Position, group: Group[B], seconds: float) -> Position:
    epoch, batch = group.epoch, group.start + len(group.batches)
    if group.last:
        epoch, batch = epoch + 1, 0
    return replace(position, update=group.update, epoch=epoch, batch=batch, seconds=seconds)


def _evaluates(settings: Settings, group: Group[B]) -> bool:
    every = settings.evaluate_every
    return group.update % every == 0 if every else group.last


def _evaluation(
    training: Training, validation: Validation, settings: Settings, world: World
) -> Generator[Event, None, None]:
    average = training.average
    seed(settings.seed, training.position.update, world.rank)
    with average.applied(training.net) if average else nullcontext():
        yield judge(training, validation, world)
    if average and not average.count and triggered(training.position.merits, settings.trigger):
        average.update(training.net)  # NT-ASGD; other averages began with the first update


def _deliver(training: Training) -> None:
    if training.best:
        put(training.net, training.best)
    elif training.average and training.average.count:
        put(training.net, training.average.weights)
    training.net.eval()
