"""The README.md of a model folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from elman.cells import count_parameters
from elman.number_format import format_scores
from elman.pipeline.baseline_report import JudgedBaseline
from elman.pipeline.recipe import Recipe
from elman.pipeline.run_record import PHASE, PYTHON, summarize_run
from elman.tasks.base import Task
from elman.text.byte_source import display_name


def write_model_card(
    recipe: Recipe,
    model: Task,
    metrics: Mapping[str, Any],
    stats: Mapping[str, int],
    run: Mapping[str, Any],
    baseline: JudgedBaseline | None = None,
) -> str:
    """What the model is, what it was trained on, what it scored and how to use it."""
    title, use, about = model.card_info()
    train = (recipe.data.train,) if isinstance(recipe.data.train, str) else recipe.data.train
    results = [f"- {part}: {format_scores(metrics[part])}" for part in ("valid", "test") if metrics.get(part)]
    results += [f"- {baseline.describe()}"] if baseline else []
    counts = ", ".join(f"{count:,} {name}" for name, count in stats.items())
    command = run["sessions"][0]["command"]
    made = "Made in Python" if command == PYTHON else f"Made by `{command}`"
    return "\n".join(
        [
            f"# {title} by Elman",
            "",
            *(f"- {line}" for line in about),
            f"- training data: {' and '.join(map(display_name, train))}, {counts}",
            *_describe_unlabelled(recipe, run.get(PHASE)),
            f"- {count_parameters(model.net):,} parameters",
            f"- training: {metrics['updates']:,} updates, stopped by {metrics['stopped']}",
            f"- run: {summarize_run(run)}",
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
            f"{made}; all settings are in config.json, the data and the machine in run.json.",
            "",
        ]
    )


def _describe_unlabelled(recipe: Recipe, phase: Mapping[str, Any] | None) -> list[str]:
    if phase is None:
        return []
    files = (recipe.data.unlabelled,) if isinstance(recipe.data.unlabelled, str) else recipe.data.unlabelled
    read = f"{phase['texts']:,} texts, {phase['tokens']:,} tokens with those of the training data"
    guessed = f"; {phase['guessed']:,} of them have labels that were guessed" if phase.get("guessed") else ""
    return [f"- unlabelled text: {' and '.join(map(display_name, files))}; {read}{guessed}"]
