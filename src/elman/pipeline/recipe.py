"""Everything that a training run depends on; a TOML file, ``--set`` and flags say these names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, make_dataclass, replace
from functools import cache, partial, reduce
from operator import or_
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, cast

from torch import nn

from elman import config, objectives
from elman.cells import resolve_cell
from elman.errors import ConfigError, DataError
from elman.tasks.base import Task
from elman.tasks.registry import TASKS
from elman.text.byte_source import PipeContent, display_name, hold_pipe
from elman.training.distributed import count_processes
from elman.training.training_config import TrainingConfig

TRACKERS = ("tensorboard", "wandb", "mlflow")
_MODEL_PATHS = ("vectors", "lm_forward", "lm_backward")  # options of networks that may begin with a variable


@dataclass(frozen=True)
class Recipe:
    """A task and the settings of a run; those of each task have types and defaults of their own."""

    task: str
    data: Any
    tokens: Any
    model: Any
    objective: ClassVar[Any] = None  # a field where a task writes sequences
    pretraining: ClassVar[Any] = None  # a field where an encoder can be trained on unlabelled text
    training: TrainingConfig = field(default_factory=TrainingConfig)
    tensorboard: bool = False  # send the numbers of training there, too
    wandb: bool = False
    mlflow: bool = False

    def __post_init__(self) -> None:
        self.task_class.check_tokens(self.model, self.tokens)
        if self.objective is not None:
            self.task_class.check_objective(self.model, self.objective.kind)
        if self.pretraining not in (None, self.task_class.defaults.pretraining) and not self.data.unlabelled:
            raise ConfigError("pretraining is set, but data.unlabelled is not: which text is to be read?")
        if self.training.refit:
            self.task_class.check_refit(self.data)

    @property
    def trackers(self) -> list[str]:
        """Those that are asked for."""
        return [name for name in TRACKERS if getattr(self, name)]

    @property
    def task_class(self) -> type[Task]:
        return TASKS[self.task].load()


@cache
def recipe_class(task: str) -> type[Recipe]:
    """The recipes of a task, by its name."""
    given = TASKS[task].load().defaults
    defaults = {"data": given.data, "tokens": given.tokens, "model": given.model}
    defaults["training"] = TrainingConfig(**given.training)
    if given.pretraining is not None:
        defaults["pretraining"] = given.pretraining
    sections: list[tuple[str, Any, Any]] = [("task", Literal[task], field(default=task))]
    for name, value in defaults.items():
        sections.append((name, type(value), field(default_factory=partial(replace, value))))
    if given.objectives:
        likelihood = field(default_factory=objectives.LikelihoodConfig)
        sections.append(("objective", objectives.ObjectiveConfig, likelihood))
    made = make_dataclass(f"{task}_recipe", sections, bases=(Recipe,), frozen=True)
    return cast("type[Recipe]", made)


def read(path: str | Path, overrides: Iterable[str] = ()) -> Recipe:
    """The recipe in a TOML file, with ``a.b=c`` overrides applied."""
    return config.read_toml(build, path, overrides)


def build(data: Mapping[str, object]) -> Recipe:
    """A recipe from plain data."""
    data, task = _find_cell(data), data.get("task")
    known = isinstance(task, str) and task in TASKS  # to load the other tasks takes time
    kind: Any = recipe_class(task) if known else reduce(or_, map(recipe_class, TASKS))
    return cast(Recipe, config.build_config(kind, data))


def _find_cell(data: Mapping[str, object]) -> Mapping[str, object]:
    """The data with the cell that ``model.cell`` means: code is imported here, because a user names it."""
    model = data.get("model")
    if not isinstance(model, Mapping) or "cell" not in model:
        return data
    try:
        return {**data, "model": {**model, "cell": resolve_cell(model["cell"])}}
    except ConfigError as error:
        raise ConfigError(f"model.cell: {error}") from None


def data_sources(recipe: Recipe) -> dict[str, str | tuple[str, ...]]:
    """Where the data of each part is."""
    parts = ("train", "valid", "test", "unlabelled")
    return {part: getattr(recipe.data, part) for part in parts if hasattr(recipe.data, part)}


def expand_paths(recipe: Recipe) -> Recipe:
    """The recipe with variables in its paths replaced by what they stand for."""
    return _replace_paths(recipe, _expand)


def hold_pipes(recipe: Recipe) -> Recipe:
    """The recipe with what can be read only once read: all seeds and all passes see the same."""
    return _replace_paths(recipe, _hold)


def _replace_paths(recipe: Recipe, change: Callable[[str], str]) -> Recipe:
    def each(source: Any) -> Any:
        return tuple(map(change, source)) if isinstance(source, tuple) else change(source)

    data = replace(recipe.data, **{part: each(source) for part, source in data_sources(recipe).items()})
    paths = {name: change(getattr(recipe.model, name)) for name in _MODEL_PATHS if hasattr(recipe.model, name)}
    return replace(recipe, data=data, model=replace(recipe.model, **paths))


def _expand(path: str) -> str:
    expanded = os.path.expandvars(path)
    unset = re.match(r"\$\{?(\w+)", expanded)
    corpus = re.match(r"\$\{?ELMAN_DATA\}?/([^/]+)/", path)
    if unset:
        then = f", then elman data get {corpus[1]}" if corpus else ""
        raise ConfigError(f"{path} begins with ${unset[1]}, which is not set: export {unset[1]}=FOLDER{then}")
    if corpus and not os.path.exists(expanded):
        raise DataError(f"{expanded}: no such file; elman data get {corpus[1]} fetches it")
    return expanded


def _hold(path: str) -> str:
    held = hold_pipe(path)
    if isinstance(held, PipeContent) and count_processes() > 1:
        raise ConfigError(f"{display_name(path)}: a pipe can be read by one process only; give a file")
    return held


class TrainTarget(NamedTuple):
    """What ``fit`` trains and what it minimises; ``metrics`` are told beside the scores of an evaluation."""

    net: nn.Module
    loss: Any  # (batch, progress) -> loss, or one that carries a state
    metrics: Callable[[], dict[str, float]]


def train_target(recipe: Recipe, task: Task) -> TrainTarget:
    """The target of a recipe. An objective is trained beside the net: checkpoints hold what it learns."""
    if recipe.objective is None or recipe.objective.kind == "likelihood":
        return TrainTarget(task.net, task.training_loss, dict)
    model = task.sequence_model()
    objective = recipe.objective.build(model).to(task.device)
    both = nn.ModuleDict({"net": task.net, "objective": objective})
    return TrainTarget(both, model.training_loss(objective), objective.metrics)
