"""The training loop. It yields what happened; whoever consumes it prints, plots, saves or stops."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import nullcontext
from dataclasses import replace
from typing import TypeVar

import torch
from torch import nn

from elman.errors import ConfigError, ElmanError
from elman.interruption import Interrupted
from elman.memory_errors import refuse_shortage
from elman.training.batches import Batches, BatchGroup, Progress, group_batches, is_evaluation_due, stop_reason
from elman.training.distributed import World, process_group
from elman.training.ema import WeightAverage, load_weights
from elman.training.evaluation import Validation, evaluate
from elman.training.events import Checkpoint, Event, TrainingEnd
from elman.training.graphed_step import GraphedStep, UpdateStep
from elman.training.optimizers import keeps_average, make_optimizer, should_average
from elman.training.snapshot import Snapshot, TrainState, restore_snapshot, take_snapshot
from elman.training.stateful_loss import AnyLoss, StatefulLoss, StatelessLoss
from elman.training.step import EagerStep, LossModule, update_rng
from elman.training.training_config import TrainingConfig
from elman.training.update import finish_update, launch_update

B = TypeVar("B")


def fit(
    net: nn.Module,
    batches: Batches[B],
    loss: AnyLoss[B],
    config: TrainingConfig,
    validation: Validation | None = None,
    *,
    resume: Snapshot | None = None,
    trained: bool = False,
) -> Generator[Event, None, None]:
    """Train ``net`` to make ``loss(batch, progress)``, a mean, small; a `StatefulLoss` goes on from the state
    that the batch before left.

    The gradient of an update is Σ wᵢ gᵢ / Σ wᵢ over its batches and processes, wᵢ their weights. At the end the
    net holds the weights of the best evaluation, or where there is none the averaged or last ones. So it does
    after a failure (a loss that is not finite, memory or a disk that is full), which `TrainingEnd` then tells;
    before the first evaluation it is raised, and the net has the weights before it. A net that is ``trained``
    already is evaluated first: what it is at the end is never worse by the metric that counts.

    Each update's random numbers (dropout) follow from the seed and its number, whatever happened before: with
    the same seed and data the same bits on a CPU, resumed or not.
    """
    device = next(net.parameters()).device
    mixed = config.precision != "float32"
    wanted = ["cuda_graph = true"] * config.cuda_graph + [f"precision = {config.precision!r}"] * mixed
    if device.type != "cuda" and wanted:
        raise ConfigError(
            f"only a GPU can do {' and '.join(wanted)}, but the net is on the {device.type.upper()}; "
            "there set training.cuda_graph=false and training.precision=float32"
        )
    needs_validation = config.schedule == "plateau" or config.optimizer == "ntasgd" or config.patience
    if needs_validation and validation is None:
        raise ConfigError("the plateau schedule, ntasgd and patience need validation data")
    scaler = torch.amp.GradScaler("cuda", enabled=config.precision == "float16")  # bfloat16 has float32's range
    average = WeightAverage(net, config.ema_decay or 1.0) if keeps_average(config) else None
    begin = Progress(evaluation_due=trained)
    training = TrainState(net, make_optimizer(net, config), scaler, average, {}, begin)
    return _events(training, batches, loss, config, validation, resume)


def _events(
    training: TrainState,
    batches: Batches[B],
    loss: AnyLoss[B],
    config: TrainingConfig,
    validation: Validation | None,
    resume: Snapshot | None,
) -> Generator[Event, None, None]:
    net, average = training.net, training.average
    with process_group(next(net.parameters()).device) as world:
        if (snapshot := world.first(resume)) is not None:
            restore_snapshot(training, snapshot, world)
        failure = ""
        try:
            yield from _updates(training, batches, loss, config, validation, world)
        except ElmanError as error:
            if not training.best:
                raise
            failure = str(error)
        if training.best:
            load_weights(net, training.best)
        elif average and average.count:
            load_weights(net, average.weights)
        net.eval()
        reason = "failure" if failure else stop_reason(config, training.progress)
        assert reason
        end = training.progress
        yield TrainingEnd(end.update, reason, end.scores, failure, end.best_update)


def _updates(
    training: TrainState,
    batches: Batches[B],
    loss: AnyLoss[B],
    config: TrainingConfig,
    validation: Validation | None,
    world: World,
) -> Generator[Event, None, None]:
    step = _step(loss, training, config, world)
    saved = training.progress.seconds
    begun = time.monotonic() - saved
    stream = group_batches(batches, config, training.progress)
    upcoming = next(stream, None)
    if validation and training.progress.evaluation_due:
        yield from _evaluation(training, validation, config, world)
        yield Checkpoint(training.progress.update, True, lambda: take_snapshot(training, world))
    while not stop_reason(config, training.progress):
        assert upcoming is not None
        group = upcoming
        try:
            with refuse_shortage(f"at {group.place}"):
                launched = launch_update(training, step, batches, group, config, world)
                upcoming = next(stream, None)  # prepared while a GPU computes
        except Interrupted:
            yield Checkpoint(training.progress.update, True, lambda: take_snapshot(training, world))
            continue
        except ElmanError:
            yield Checkpoint(training.progress.update, True, lambda: take_snapshot(training, world))
            raise
        # A loss that is not finite would be so again from here, at any learning rate: no checkpoint then.
        with refuse_shortage(f"at {group.place}"):
            event = finish_update(training, step, launched, config, world)
        (seconds,) = world.sum(0.0 if world.rank else time.monotonic() - begun)
        training.progress = _after(training.progress, group, seconds)
        if training.average and (config.ema_decay or training.average.count):
            training.average.update(training.net)
        yield event
        pause = is_evaluation_due(config, training.progress, group) or bool(
            stop_reason(config, training.progress)
        )
        if validation and pause:
            yield from _evaluation(training, validation, config, world)
        due = pause or 0 < 60 * config.checkpoint_minutes <= seconds - saved
        saved = seconds if due else saved
        yield Checkpoint(group.update, due, lambda: take_snapshot(training, world))


def _step(loss: AnyLoss[B], training: TrainState, config: TrainingConfig, world: World) -> UpdateStep[B]:
    carried = loss if isinstance(loss, StatefulLoss) else StatelessLoss(loss)
    module = world.wrap(LossModule(training.net, carried, config.precision))
    eager: EagerStep[B] = EagerStep(module, carried, training, config.grad_clip)
    if not config.cuda_graph:
        return eager
    if world.size > 1:
        raise ConfigError("cuda_graph = true is for one process; leave it off under torchrun")
    return GraphedStep(eager)


def _after(progress: Progress, group: BatchGroup[B], seconds: float) -> Progress:
    epoch, batch = group.epoch, group.start + len(group.batches)
    if group.last:
        epoch, batch = epoch + 1, 0
    return replace(progress, update=group.update, epoch=epoch, batch=batch, seconds=seconds)


def _evaluation(
    training: TrainState, validation: Validation, config: TrainingConfig, world: World
) -> Generator[Event, None, None]:
    average, device, begun = training.average, next(training.net.parameters()).device, time.monotonic()
    training.progress = replace(training.progress, evaluation_due=True)
    while training.progress.evaluation_due:
        try:
            with average.swap_into(training.net) if average else nullcontext():
                with update_rng(config.seed, training.progress.update, world.rank, device):
                    evaluation = evaluate(training, validation, world)
                if evaluation:
                    yield evaluation
        except ElmanError:
            yield Checkpoint(training.progress.update, True, lambda: take_snapshot(training, world))
            raise
        if not evaluation:
            yield Checkpoint(training.progress.update, True, lambda: take_snapshot(training, world))
    (took,) = world.sum(0.0 if world.rank else time.monotonic() - begun)
    end = training.progress.seconds + took
    training.progress = replace(training.progress, evaluated_at=end, evaluation_seconds=took)
    if average and not average.count and should_average(training.progress.metric_history, config.ntasgd_window):
        average.update(training.net)  # NT-ASGD; other averages began with the first update
