"""The README.md of a model folder."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from typing import Any

from elman.cells import parameter_count
from elman.learning.recipe import Recipe
from elman.tasks.kinds import Task

_VERBS = {
    "classifier": "predict THIS_FOLDER texts.txt",
    "lm": "generate THIS_FOLDER",
    "seq2seq": "translate THIS_FOLDER texts.txt",
    "tagger": "predict THIS_FOLDER texts.txt",
}


def card(recipe: Recipe, model: Task, metrics: Mapping[str, Any], seen: Mapping[str, int]) -> str:
    """What the model is, what it was trained on, what it scored and how to use it."""
    title, use, about = model.described()
    train = recipe.data.train
    results = [
        f"- {part}: {_line(metrics[part])}" for part in ("valid", "test") if metrics.get(part)
    ]
    counts = ", ".join(f"{count:,} {name}" for name, count in seen.items())
    command = shlex.join(["elman", *sys.argv[1:]])
    return "\n".join(
        [
            f"# {title} by Elman",
            "",
            *(f"- {line}" for line in about),
            f"- training data: {train if isinstance(train, str) else ' and '.join(train)}, {counts}",
            f"- {parameter_count(model.net):,} parameters",
            f"- training: {metrics['updates']:,} updates, stopped by {metrics['stopped']}",
            "",
            "## Results",
            *(results or ["not evaluated"]),
            "",
            "## Use",
            "```",
            f"elman {_VERBS[recipe.task]}",
            "```",
            "```python",
            "import elman",
            f'elman.load("THIS_FOLDER").{use}',
            "```",
            "",
            f"Made by `{command}`; all settings are in config.json.",
            "",
        ]
    )


def _line(scores: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in scores.items())
