"""What a model folder says of itself: layers, formulas, training, scores."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from elman.cli.model_args import load_model
from elman.cli.terminal import print_table, say
from elman.number_format import format_score, format_scores

if TYPE_CHECKING:
    from elman.files.picture_files import PictureFolder
    from elman.inspect.history import TrainingHistory
    from elman.tasks.base import Task
    from elman.tasks.results import ModelRecord


class InspectedModel(NamedTuple):
    """A model folder, read."""

    model: Task
    record: ModelRecord
    history: TrainingHistory | None  # of a folder that was passed on without its log: none


def read_model_folder(folder: Path) -> InspectedModel:
    """All that lies in a model folder."""
    from elman.errors import ModelError
    from elman.files.model_files import METRICS, METRICS_LOG
    from elman.inspect.history import read_history

    model, log = load_model(folder), folder / METRICS_LOG
    if model.record is None or not isinstance(model.record.metrics, dict):
        raise ModelError(f"{folder / METRICS}: the file is damaged, expected an object")
    return InspectedModel(model, model.record, read_history(log) if log.exists() else None)


def model_json(seen: InspectedModel) -> dict[str, Any]:
    """What is known of a model, as JSON can hold it."""
    from elman.inspect.summary import cell_equations, summarize_layers

    title, _, about = seen.model.card_info()
    parts = summarize_layers(seen.model.net)
    return {
        "task": seen.record.config["task"],
        "about": [title, *about],
        "layers": [dataclasses.asdict(p) | {"parameters": p.parameters} for p in parts],
        "parameters": sum(p.parameters for p in parts),
        "formulas": cell_equations(seen.model.net),
        "training": _training(seen),
        "scores": {name: value for name, value in seen.record.metrics.items() if isinstance(value, dict)},
    }


def _training(seen: InspectedModel) -> dict[str, Any]:
    found: dict[str, Any] = {
        "data": seen.record.config["data"].get("train", ""),
        "settings": seen.record.config.get("training", {}),
        **{name: value for name, value in seen.record.metrics.items() if not isinstance(value, dict)},
    }
    if history := seen.history:
        found["epochs"] = history.epochs
        found["best"] = history.best and dataclasses.asdict(history.best)
        found["evaluations"] = [dataclasses.asdict(e) for e in history.evaluations]
    return found


def show_model(found: Mapping[str, Any]) -> None:
    """The same for people, on stdout."""
    title, *about = found["about"]
    click.echo(f"{title} ({found['task']})")
    for line in about:
        click.echo(f"  {line}")
    click.echo()
    rows = [[p["name"], p["kind"], _shapes(p), f"{p['parameters']:,}"] for p in found["layers"]]
    rows.append(["all", "", "", f"{found['parameters']:,}"])
    print_table(["layer", "kind", "weights", "parameters"], rows)
    for name, equations in found["formulas"].items():
        click.echo(f"\n{name}")
        for equation in equations:
            click.echo(f"  {equation}")
    click.echo()
    _show_training(found["training"])
    for part, scores in found["scores"].items():
        values = format_scores(scores)
        click.echo(f"{part}: {values or 'not evaluated'}")


def _shapes(layer: Mapping[str, Any]) -> str:
    parts = [f"{name} {'×'.join(map(str, shape))}" for name, shape in layer["weights"].items()]
    parts += [f"{name} {'×'.join(map(str, s))} (fixed)" for name, s in layer["fixed"].items()]
    return ", ".join(parts)


def _show_training(training: Mapping[str, Any]) -> None:
    facts = ", ".join(
        f"{name} {format_score(name, value) if isinstance(value, int | float) else value}"
        for name, value in training.items()
        if name not in ("data", "settings", "best", "evaluations")
    )
    data = training["data"]
    click.echo(f"trained on {data if isinstance(data, str) else ' '.join(data)}: {facts}")
    if best := training.get("best"):
        click.echo(f"best after update {best['update']:,}, in epoch {best['epoch']}")
    if settings := ", ".join(f"{name} {value}" for name, value in training["settings"].items() if value):
        click.echo(f"settings: {settings}")


def plot_training(seen: InspectedModel, out: PictureFolder, *, about: str) -> None:
    """The learning curve, where there is a log of it."""
    from elman.inspect.plots import plot_history

    if seen.history is None:
        say("no learning curve: the folder has no log of its training")
        return
    path = out.path("learning_curve")
    unit = "%" if seen.model.best == "max" else ""  # what should grow is a percentage
    kind = seen.record.config.get("objective", {}).get("kind", "likelihood")
    lost = "loss, nats" if kind in ("likelihood", "scheduled") else f"loss of {kind}"
    plot_history(seen.history, seen.model.metric, path, unit=unit, lost=lost, about=about)
    say(f"learning curve: {path}")
