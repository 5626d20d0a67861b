"""What a run trains, and the loss: the task's own, or an objective that its recipe chooses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import nn

from elman.pipeline.recipe import Recipe
from elman.tasks.base import Task


@dataclass(frozen=True)
class TrainTarget:
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
