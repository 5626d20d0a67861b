"""The README.md of a model folder."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from typing import Any

from elman.cells import count_parameters
from elman.pipeline.recipe import Recipe
from elman.tasks.base import Task


def write_model_card(recipe: Recipe, model: Task, metrics: Mapping[str, Any], stats: Mapping[str, int]) -> str:
    """What the model is, what it was trained on, what it scored and how to use it."""
    title, use, about = model.card_info()
    train = recipe.data.train
    results = [f"- {part}: {_line(metrics[part])}" for part in ("valid", "test") if metrics.get(part)]
    counts = ", ".join(f"{count:,} {name}" for name, count in stats.items())
    command = shlex.join(["elman", *sys.argv[1:]])
    return "\n".join(
        [
            f"# {title} by Elman",
            "",
            *(f"- {line}" for line in about),
            f"- training data: {train if isinstance(train, str) else ' and '.join(train)}, {counts}",
            f"- {count_parameters(model.net):,} parameters",
            f"- training: {metrics['updates']:,} updates, stopped by {metrics['stopped']}",
            "",
            "## Results",
            *(results or ["not evaluated"]),
            "",
            "## Use",
            "```",
            f"elman {model.spec.usage}",
            "```",
            "```python",
            "import elman",
            f'elman.load("THIS_FOLDER", elman.{type(model).__name__}).{use}',
            "```",
            "",
            f"Made by `{command}`; all settings are in config.json.",
            "",
        ]
    )


def _line(scores: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in scores.items())
