"""From a recipe to a model folder: read, build, fit, save."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from elman.argument_checks import check_arguments
from elman.artifact.model_cell import write_cell
from elman.cells import OwnCell
from elman.config import apply_override, to_plain
from elman.devices import choose_device
from elman.errors import ConfigError, ModelError
from elman.files.model_files import CHECKPOINT
from elman.folders.disk_room import check_room, file_size
from elman.folders.folder_contents import find_run
from elman.folders.output_folder import parse_folder
from elman.folders.run_folder import RunFolder, claim_for_training
from elman.pipeline.choose_defaults import list_keys
from elman.pipeline.delivery import Delivery, deliver
from elman.pipeline.pretrain_encoder import (
    is_pretraining,
    leave_minutes,
    pretrain_encoder,
    read_texts,
    say_guesses,
)
from elman.pipeline.recipe import (
    TRACKERS,
    Recipe,
    TrainTarget,
    build,
    data_sources,
    expand_paths,
    hold_pipes,
    read,
    train_target,
)
from elman.pipeline.refit_network import FirstWeights, find_first_weights, keep_first_weights
from elman.pipeline.resumed_data import name_start, with_contents
from elman.pipeline.run_begin import RunBegin, check_same_task, complete_recipe, find_run_device
from elman.pipeline.run_record import PYTHON, RunRecord, describe_data, describe_session
from elman.pipeline.start_model import start_model
from elman.pipeline.start_options import starts_from_lm
from elman.pipeline.training_data import read_data
from elman.pipeline.training_memory import check_training_memory
from elman.recipes.recipe_files import find_recipe
from elman.tasks.base import Task
from elman.training.checkpoint import checkpoint_size
from elman.training.distributed import is_main_process, local_device, was_restarted
from elman.training.evaluation import Validation
from elman.training.final_loss import FinalLoss
from elman.training.run import find_resume_point, follow
from elman.training.tracking import open_log
from elman.training.training_loop import fit

CHANGEABLE = ("training.lr", "training.grad_clip")  # by a resumed run, whose loss was not finite


@dataclass(frozen=True)
class Outcome:
    """A finished run."""

    model: Task
    metrics: dict[str, Any]


@check_arguments
def train(
    recipe: str | os.PathLike[str] | dict[str, Any],
    out: str | os.PathLike[str] | None = None,
    *,
    set: Iterable[str] = (),
    resume: bool = False,
    device: str = "auto",
    init: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    choose_defaults: bool = False,
) -> Task:
    """Train by a recipe into the model folder ``out``, if any.

    A recipe is a TOML file, a dict of the same shape, or the name of one of Elman's: ``"recipe:trec"``.

    ``set`` holds overrides: ``["model.hidden=256"]``. An interrupted run is a ModelError; ``resume`` goes on.
    A folder that holds anything is refused; with ``overwrite`` it is replaced when the model is complete.
    With ``choose_defaults``, what a dict leaves out is chosen by the data, as ``elman train TASK`` does.
    """
    if out is None:
        with TemporaryDirectory() as folder:
            options: Any = {"set": set, "device": device, "init": init, "choose_defaults": choose_defaults}
            return train(recipe, folder, **options)
    given = None
    if isinstance(recipe, dict):
        data = reduce(apply_override, set, recipe)
        chosen, given = build(data), frozenset(list_keys(data)) if choose_defaults else None
    elif choose_defaults:
        raise ConfigError("choose_defaults is for a dict; a recipe file says all that is not the default")
    else:
        chosen = read(find_recipe(recipe), set)
    start = None if init is None else Path(init)
    in_use = choose_device(device) == "cuda" or torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    gpus = [*range(torch.cuda.device_count())] if in_use else []
    with torch.random.fork_rng(devices=gpus):  # a seed is that of the run, not of its caller
        same: Any = {"resume": resume, "device": device, "init": start, "overwrite": overwrite}
        outcome = run_recipe(chosen, parse_folder(out), given=given, **same)
    if outcome is None:
        raise ModelError(f"training was interrupted; go on with resume=True into {out}")
    return outcome.model


def run_recipe(
    recipe: Recipe,
    out: Path,
    *,
    resume: bool = False,
    device: str = "auto",
    init: Path | None = None,
    command: str = PYTHON,
    overwrite: bool = False,
    given: frozenset[str] | None = None,
) -> Outcome | None:
    """Train into the folder ``out``; None if it was interrupted (then ``resume`` goes on).

    ``command`` is what was typed, for the record of the run. A folder that holds anything is refused, unless it
    may ``overwrite`` it: then the old stays until the new is complete. All keys but those ``given`` are chosen
    by the data; None: the recipe is literal.
    """
    resume = resume or (was_restarted() and find_run(out) is not None)
    begin = RunBegin(resume, find_run_device(device), init, command, given)
    if not is_main_process():
        return _train(recipe, RunFolder(out, find_run(out) or out), begin)
    with claim_for_training(out, resume=resume, overwrite=overwrite) as folder:
        return _train(recipe, folder, begin)


def _train(recipe: Recipe, folder: RunFolder, begin: RunBegin) -> Outcome | None:
    resume, device, init, command, _ = begin
    if resume and is_main_process():
        check_same_task(folder.work, recipe.task)
    record = RunRecord(folder.work, describe_session(command, device), recipe.training.seed, init)
    named, recipe = data_sources(recipe), hold_pipes(expand_paths(recipe))
    if not recipe.data.train:
        raise ConfigError("data.train is missing: which file holds the training examples?")
    recipe = replace(recipe, data=recipe.task_class.resolve_data(recipe.data))
    data = read_data(recipe)
    recipe = complete_recipe(recipe, data.training, begin, record)
    trackers = [open_log(name, folder.work, to_plain(recipe)) for name in recipe.trackers if is_main_process()]
    torch.manual_seed(recipe.training.seed)
    texts = read_texts(recipe, data, init)
    refits = recipe.training.refit and bool(data.held)
    known = recipe.task_class.join(data.training, data.held) if refits else data.training
    model = start_model(recipe, known, folder.work, resume=resume, init=init, texts=texts)
    model.net.to(local_device(device))
    dataset, valid = model.encode(data.training), model.encode_valid(recipe.data, data.held)
    if data.test is not None:
        model.encode(data.test)  # what it cannot be tested on is said now
    config, stats = to_plain(recipe), model.dataset_stats(dataset)
    dataset, guesses = model.guess_labels(dataset, texts, recipe.pretraining)
    say_guesses(guesses)
    model.fit_statistics(dataset)
    described = describe_data(named, data_sources(recipe), data.reports) if is_main_process() else {}
    fingerprint = _fingerprint(with_contents(config, described)) | {"seen": stats} | _own_cell(recipe)
    fingerprint |= {} if init is None else {"init": name_start(init, folder)}
    target = train_target(recipe, model)
    reading = bool(texts) and resume and is_pretraining(folder.work)  # the phase to resume
    snapshot = find_resume_point(folder.work, fingerprint, asked=resume and not reading, changeable=CHANGEABLE)
    if is_main_process():
        size = checkpoint_size(target.net, recipe.training, evaluated=valid is not None)
        check_room(folder.work, size, existing=file_size(folder.work / CHECKPOINT))
        record.begin(described, resumed=reading or snapshot is not None)
        if snapshot is None and not reading:
            model.save_vocab(folder.work)  # for the case that it is resumed
            write_cell(model.config.cell, folder.work)
    if texts and snapshot is None:
        phase = pretrain_encoder(recipe, model, texts, folder.work, fingerprint)
        if phase is None:
            record.finish()
            return None
        record.add_first_phase({**phase, **guesses})
        if refits:
            keep_first_weights(model, folder.work)
    loss = FinalLoss()
    first = FirstWeights(find_first_weights(model, folder.work), texts, loss) if refits else None
    settings = leave_minutes(recipe.training, record.first_phase)
    settings = settings if valid else replace(settings, patience=0)
    batches = model.build_batches(dataset, recipe.data, settings.seed)
    check_training_memory(recipe, target.net, batches, str(model.device))
    validation = _validation(model, valid, target) if valid else None
    trained = init is not None and not starts_from_lm(recipe, init)
    events = fit(target.net, batches, target.loss, settings, validation, resume=snapshot, trained=trained)
    end = follow(
        loss.watch(events), folder.work, fingerprint, unit=model.unit, trackers=trackers, second=bool(texts)
    )
    if end is None:
        record.finish()
        return None
    delivery = Delivery(recipe, model, data, dataset, stats, end, record, first)
    metrics = deliver(delivery, valid, folder)
    model.end_training()
    return Outcome(model, metrics)


def _validation(model: Task, valid: Any, target: TrainTarget) -> Validation:
    return Validation(lambda: model.validate(valid) | target.metrics(), model.metric, model.best)


def _own_cell(recipe: Recipe) -> dict[str, str]:
    """What the cell of a resumed run must compute, where it is not one of Elman's."""
    cell = recipe.model.cell
    return {"cell": cell.digest} if isinstance(cell, OwnCell) else {}


def _fingerprint(config: Mapping[str, Any]) -> dict[str, Any]:
    """What a resumed run must have in common: all but how long to run and what to show."""
    free = ("minutes", "checkpoint_minutes", "baseline")
    training = {k: v for k, v in config["training"].items() if k not in free}
    return {**config, "training": training, **dict.fromkeys(TRACKERS)}
