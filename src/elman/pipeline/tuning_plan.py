"""What a search for settings is: a recipe, what the plain command makes of it, what is searched around that."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import torch

from elman.config import to_plain
from elman.errors import ConfigError, ModelError
from elman.files.atomic_files import write_atomically
from elman.folders.search_folder import SEARCH
from elman.pipeline.choose_defaults import (
    ChosenRecipe,
    apply_settings,
    choose_settings,
    list_keys,
    restore_choice,
    say_choice,
)
from elman.pipeline.default_facts import Facts, gather_facts
from elman.pipeline.recipe import Recipe, build, data_sources, expand_paths
from elman.pipeline.search_space import find_space
from elman.pipeline.training_data import read_data
from elman.pipeline.tuning_length import (
    FOLDS,
    Rung,
    SearchRequest,
    choose_longest,
    has_room,
    is_given,
    needs_folds,
    plan_rungs,
)
from elman.tasks.registry import TASKS
from elman.text.byte_source import display_name, is_pipe
from elman.text.json_io import read_json

EPOCHS = "training.epochs"


@dataclass(frozen=True)
class TuningPlan:
    """All that stays the same during a search, also when it is resumed."""

    data: Mapping[str, Any]
    folds: int
    rungs: tuple[Rung, ...]  # lengths of a training; the next is for the better ones
    chosen: Mapping[str, Any]  # by the data, as the plain command does
    space: Mapping[str, Mapping[str, Any]]  # what is searched
    plain: Mapping[str, Any]  # what the plain command chooses for that
    reading: float  # seconds that reading the data took

    @property
    def recipe(self) -> Recipe:
        """What is given, and no more."""
        return build(self.data)

    @property
    def seed(self) -> int:
        return self.recipe.training.seed

    def make_recipe(self, values: Mapping[str, Any], rung: int) -> Recipe:
        """A trial as a literal recipe; no test data is part of it."""
        given = frozenset(list_keys(self.data))
        recipe = restore_choice(self.recipe, given, {**self.chosen, **values})
        length = self.find_length(values, rung)
        training = replace(
            recipe.training, minutes=length.minutes, epochs=length.epochs or recipe.training.epochs
        )
        return replace(recipe, training=training, data=replace(recipe.data, test=""))

    def find_length(self, values: Mapping[str, Any], rung: int) -> Rung:
        """How long a trial is trained at a rung: the same share of its own epochs as of the plain ones."""
        length, longest = self.rungs[rung], self.rungs[-1].epochs
        if not longest:
            return length
        return Rung(length.minutes, max(1, round(values.get(EPOCHS, longest) * length.epochs / longest)))

    def make_last_recipe(
        self, values: Mapping[str, Any], rung: int, length: Mapping[str, int]
    ) -> Recipe | None:
        """A trial for so many epochs or updates, and then anew on all data; None where there is a file to
        validate on, so that nothing was held out."""
        recipe = self.make_recipe(values, rung)
        ends: dict[str, Any] = {"minutes": 0.0, "patience": 0, "evaluation_share": 0.0, **length}
        try:
            return replace(recipe, training=replace(recipe.training, refit=True, **ends))
        except ConfigError:
            return None

    @property
    def refits(self) -> bool:
        """Whether the best settings are trained anew in the end, on what was held out, too."""
        known = self.rungs[-1].epochs or not self.folds  # folds have no common number of updates
        return bool(known) and self.make_last_recipe(self.plain, 0, {"updates": 1}) is not None

    def write(self, folder: Path) -> None:
        """Keep it for the case that the search is resumed."""
        write_atomically(folder / SEARCH, (json.dumps(asdict(self), indent=2) + "\n").encode())


def read_plan(folder: Path, request: SearchRequest) -> TuningPlan:
    """The plan of a search that is resumed, which must be for the same settings and data."""
    stored = read_json(folder / SEARCH)
    try:
        values = {f.name: stored[f.name] for f in fields(TuningPlan)}
        rungs = tuple(Rung(float(minutes), int(epochs)) for minutes, epochs in stored["rungs"])
        plan = TuningPlan(**values | {"rungs": rungs})
        longest = rungs[-1].minutes
    except (KeyError, IndexError, TypeError, ValueError):
        raise ModelError(f"{folder / SEARCH} is not what a search has written; begin a new one") from None
    request = replace(request, folds=request.folds or plan.folds)  # which may have been chosen
    asked = json.loads(json.dumps(_request_data(request, longest)))
    if (plan.data, plan.folds) != (asked, request.folds):
        raise ConfigError(f"{folder} holds a search with other options: resume it by the same command")
    return plan


def make_plan(request: SearchRequest) -> TuningPlan:
    """Read the data and choose what the plain command would choose for it, and how long trainings are."""
    data = _request_data(request, choose_longest(request))
    recipe, given = build(data), frozenset(list_keys(data))
    if not recipe.data.train:
        raise ConfigError("data.train is missing: which file holds the training examples?")
    if not (recipe.data.valid or recipe.data.holdout or request.folds):
        raise ConfigError("a search needs validation data: give --valid, --folds, or set data.holdout=0.1")
    _refuse_pipes(recipe)
    begun = time.monotonic()
    read = expand_paths(recipe)
    read = replace(read, data=read.task_class.resolve_data(read.data))
    examples, held, *_ = read_data(read)
    if held == [] and not request.folds:
        raise ConfigError(
            f"{recipe.data.train}: too few examples to hold any out, and a search needs some; give --valid"
        )
    torch.set_num_threads(1)  # as every training has
    facts = gather_facts(read, examples, given, device=request.device, trained=False)
    if not is_given(request) and needs_folds(facts, request):
        return make_plan(replace(request, folds=FOLDS))
    facts, choice, epochs = _choose(recipe, given, facts, request)
    say_choice(choice.settings, facts.describe())
    searched, plain = _find_searched(recipe, given, choice.recipe, choice.settings)
    return TuningPlan(
        data=data,
        folds=request.folds,
        rungs=plan_rungs(recipe.training.minutes, epochs),
        chosen=to_plain(dict(choice.settings)),
        space=searched,
        plain=plain,
        reading=time.monotonic() - begun,
    )


def _choose(
    recipe: Recipe, given: frozenset[str], facts: Facts, request: SearchRequest
) -> tuple[Facts, ChosenRecipe, int]:
    """By which facts the plain command chooses, what, and for how many epochs: its own where they find room
    in the longest training; 0 where the minutes of that end it."""
    if not is_given(request):
        free = replace(facts, minutes=0.0, timed=False)
        untimed = replace(recipe, training=replace(recipe.training, minutes=0.0))
        settings = dict(choose_settings(untimed, given, free).settings)
        settings.pop("training.refit", None)  # that comes last, once
        chosen = apply_settings(recipe, given, settings)
        if has_room(facts, chosen.training.epochs, recipe.training.minutes):
            return free, ChosenRecipe(chosen, settings), chosen.training.epochs
    return facts, choose_settings(recipe, given, facts), 0


def _request_data(request: SearchRequest, longest: float) -> dict[str, Any]:
    """The given data of a recipe, with the minutes of the longest training, which may be given, too.

    What is held out is for the search alone, and much is compared by it: it may be more than in a training.
    """
    training = {"minutes": longest, **request.data.get("training", {})}
    data = request.data.get("data", {})
    if request.holds_out and request.data.get("task") in TASKS:
        data = {"holdout": TASKS[request.data["task"]].load().search_holdout, **data}
    return {**request.data, "data": data, "training": training}


def _find_searched(
    recipe: Recipe, given: frozenset[str], chosen: Recipe, settings: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is searched, and what the plain command chooses for it."""

    def fits(key: str, value: Any) -> bool:
        if key in given or (key == "model.embedding" and recipe.model.vectors):
            return False
        try:
            apply_settings(recipe, given, {**settings, key: value})
        except ConfigError:
            return False
        return True

    plain = list_settings(chosen)
    space = find_space(plain, fits)
    if not space:
        raise ConfigError("all settings that tune searches are given: leave some of them out")
    return space, {key: plain[key] for key in space}


def list_settings(recipe: Recipe) -> dict[str, Any]:
    """The settings of the sections of a recipe by their keys: ``model.hidden``."""
    sections = (f.name for f in fields(recipe) if is_dataclass(getattr(recipe, f.name)))
    return {
        f"{s}.{f.name}": getattr(getattr(recipe, s), f.name)
        for s in sections
        for f in fields(getattr(recipe, s))
    }


def _refuse_pipes(recipe: Recipe) -> None:
    for source in data_sources(recipe).values():
        for path in (source,) if isinstance(source, str) else source:
            if path and is_pipe(path):
                raise ConfigError(f"{display_name(path)}: a pipe can be read only once; write it into a file")
