"""What a run trains, and the loss: the task's own, or an objective that its recipe chooses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import nn

from elman.learning.recipe import ClassifierRecipe, Recipe
from elman.objectives import Objective
from elman.objectives.settings import LikelihoodSettings
from elman.shapes import Tensor
from elman.tasks.generative import generative
from elman.tasks.kinds import Task
from elman.tasks.language.generative import Continuations, Window
from elman.tasks.language.truncated import Batch
from elman.tasks.language_model import LanguageModel


@dataclass(frozen=True)
class Aim:
    """What ``fit`` is to train and to make small; beside the scores of an evaluation, ``told`` says more."""

    net: nn.Module
    loss: Any  # (batch, progress) -> loss, or one that carries a state
    told: Callable[[], dict[str, float]]


def aim(recipe: Recipe, model: Task) -> Aim:
    """The aim of a recipe. An objective is trained beside the net, so that checkpoints hold what it learnt."""
    if isinstance(recipe, ClassifierRecipe) or isinstance(recipe.objective, LikelihoodSettings):
        own = model.truncated if isinstance(model, LanguageModel) else model.loss
        return Aim(model.net, own, dict)
    view = generative(model)
    objective = recipe.objective.build(view).to(next(model.net.parameters()).device)
    both = nn.ModuleDict({"net": model.net, "objective": objective})
    return Aim(both, loss(objective, view), objective.told)


def loss(objective: Objective, view: Any) -> Any:
    """The objective as ``fit`` wants it."""
    if isinstance(view, Continuations):
        return Carried(objective, view)
    return lambda batch, progress: objective(view, view.batch(batch), progress)


class Carried:
    """An objective for running text: each window goes on from the state in which the one before ended."""

    def __init__(self, objective: Objective, view: Continuations) -> None:
        self.objective, self.view = objective, view

    def begin(self, batch: Batch) -> Any:
        return self.view.task.truncated.begin(batch)

    def __call__(self, batch: Batch, progress: float, state: Any) -> tuple[Tensor, Any]:
        window = Window(batch, state)
        value: Tensor = self.objective(self.view, window, progress)
        return value, self.view.following(window)
