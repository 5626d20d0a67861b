"""How a run is begun: where it computes, what it starts from, and what its data chooses."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

from elman.devices import choose_device, describe_choice, find_device
from elman.errors import ModelError
from elman.files.model_files import CHECKPOINT, RUN
from elman.pipeline.choose_defaults import choose_settings, restore_choice, say_choice
from elman.pipeline.default_facts import gather_facts
from elman.pipeline.recipe import Recipe
from elman.pipeline.run_record import RunRecord
from elman.pipeline.start_options import starts_from_lm, take_options
from elman.training.checkpoint import read_checkpoint_config
from elman.training.distributed import count_processes


class RunBegin(NamedTuple):
    """What a run is told beside its recipe."""

    resume: bool
    device: str
    init: Path | None  # a model to start from
    command: str  # that was typed
    given: frozenset[str] | None  # keys of the recipe that the data must not choose; None: all, it is literal


def find_run_device(asked: str) -> str:
    """The device of a run, said where it was not asked for; of torchrun's processes a GPU only when asked."""
    device = "cpu" if asked == "auto" and count_processes() > 1 else choose_device(asked)
    find_device(device)
    if asked == "auto" and (said := describe_choice(device)):
        print(f"{said}; --device cpu takes the CPU", file=sys.stderr, flush=True)
    return device


def check_same_task(folder: Path, task: str) -> None:
    """A run is resumed by the task that began it; that is said before its other files are looked for."""
    began = read_checkpoint_config(folder / CHECKPOINT).get("task", task)
    if began != task:
        raise ModelError(
            f"{folder / CHECKPOINT} is of elman train {began}: elman train {task} cannot resume it"
        )


def complete_recipe(recipe: Recipe, examples: Any, begin: RunBegin, record: RunRecord) -> Recipe:
    """The recipe with what its data chooses; a resumed run keeps what it was begun with."""
    given = begin.given
    if given is None:
        return recipe
    if begin.init is not None:
        recipe, given = take_options(recipe, given, begin.init)
    if begin.resume:
        try:
            record.chosen = record.read_chosen()
            return restore_choice(recipe, given, record.chosen)
        except (AttributeError, TypeError, ValueError):  # what no run of ours has written
            path = record.folder / RUN
            raise ModelError(f"{path} does not say what was chosen for this run; start it anew") from None
    trained = begin.init is not None and not starts_from_lm(recipe, begin.init)
    facts = gather_facts(recipe, examples, given, device=begin.device, trained=trained)
    recipe, record.chosen = choose_settings(recipe, given, facts)
    say_choice(record.chosen, facts.describe())
    return recipe
