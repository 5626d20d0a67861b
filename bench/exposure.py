"""Ways to train beyond maximum likelihood, side by side, each from the same models trained by it.

    python bench/exposure.py --recipe recipes/multi30k.toml --out runs/exposure mle/seed-0 mle/seed-1 mle/seed-2
        [--kinds likelihood,risk] [--set risk.objective.sharpness=0.1] [--device cuda] [--json]

A folder that is not there yet is first trained by the recipe; seeds are 0, 1, … in the order of the folders.
Then each objective goes on from it, `likelihood` among them for as many epochs: what mere training on gives.
The test data of the recipe are translated greedily and by a beam of 5, and exposure bias is measured on them.
The second table says what an update takes beside one by likelihood, and where that goes.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import torch

from elman import artifact
from elman.config import apply_override
from elman.config import build_config as configured
from elman.inspect.exposure import measure_task_exposure
from elman.objectives import ObjectiveConfig
from elman.pipeline import run_recipe
from elman.pipeline.recipe import Recipe, expand_paths, read

FURTHER = {"epochs": 4, "evaluate_every": 0, "lr": 3e-4, "schedule": "cosine", "warmup": 0.05, "patience": 0}
RUNS: dict[str, dict[str, Any]] = {
    "likelihood": {"objective": {"kind": "likelihood"}},
    "scheduled": {"objective": {"kind": "scheduled", "p_end": 0.6}},
    "risk": {"objective": {"kind": "risk", "samples": 10, "likelihood": 0.05}, "training": {"lr": 1e-3}},
    "reinforce": {
        "objective": {"kind": "reinforce", "samples": 5, "likelihood": 0.1},
        "training": {"lr": 5e-4},
    },
    "mixer": {"objective": {"kind": "mixer", "delta": 3, "every": 0.1, "samples": 2}},
    "professor": {"objective": {"kind": "professor", "weight": 0.5}},
}
SCORES = ("bleu", "chrf", "exact", "edit_rate")
PARTS = ("write", "score", "likelihood", "cost", "backward")


def with_objective(recipe: Recipe, run: dict[str, Any]) -> Recipe:
    """The recipe with another objective, and how long and how fast it is to be trained on."""
    training = replace(recipe.training, **FURTHER | run.get("training", {}))
    return replace(
        recipe,
        objective=configured(ObjectiveConfig, run["objective"]),
        training=training,
        model=replace(recipe.model, **run.get("model", {})),
    )


def evaluate_model(folder: Path, recipe: Recipe, device: str) -> dict[str, float]:
    """The scores of a model on the test data."""
    model: Any = artifact.load(folder, device=device)
    data = model.encode(recipe.task_class.read(recipe.data, recipe.data.test))
    scores: dict[str, float] = {}
    for name, beam in (("greedy", 1), ("beam", 5)):
        all_scores = model.evaluate_dataset(data, replace(model.decoding_config, beam=beam))
        scores |= {f"{name}_{score}": all_scores[score] for score in SCORES}
    bias = measure_task_exposure(model, data)
    scores["exposure"] = bias.bias
    scores["accumulated"] = float(bias.cumulative[-1])
    scores["nats_per_token"] = all_scores["nats_per_token"]
    return scores


def train(recipe: Recipe, out: Path, device: str, init: Path | None = None) -> float:
    """Minutes of a run; 0 if it was there already."""
    if (out / "config.json").exists():
        stored = out / "minutes.json"  # a model that was trained elsewhere has none
        return float(json.loads(stored.read_text())) if stored.exists() else float("nan")
    begun = time.monotonic()
    if run_recipe(recipe, out, device=device, init=init, overwrite=True) is None:
        sys.exit("interrupted")
    minutes = (time.monotonic() - begun) / 60
    (out / "minutes.json").write_text(json.dumps(minutes))
    return minutes


def time_updates(folder: Path, recipe: Recipe, device: str, updates: int) -> dict[str, float]:
    """Milliseconds of the parts of an update, each waited for."""
    model: Any = artifact.load(folder, device=device)
    model.net.train()
    view: Any = model.sequence_model()
    spent = dict.fromkeys((*PARTS, "all"), 0.0)
    objective: Any = None
    if recipe.objective.kind != "likelihood":
        objective = recipe.objective.build(view).to(device)
        for name, part in (("sampler", "write"), ("cost", "cost")):
            if hasattr(objective, name):
                setattr(objective, name, _with_clock(getattr(objective, name), part, spent))
    for name, part in (("score", "score"), ("states", "score"), ("likelihood", "likelihood")):
        setattr(view, name, _with_clock(getattr(view, name), part, spent))
    examples = list(recipe.task_class.read(recipe.data, recipe.data.train, train=True))[:4000]
    batches = list(model.build_batches(model.encode(examples), recipe.data, 0)(0, 0))
    half = recipe.training.precision == "float16"
    for number in range(-3, updates):
        if number == 0:
            spent.update(dict.fromkeys(spent, 0.0))
        batch = view.collate(batches[number % len(batches)])
        begun = _now()
        with torch.autocast(device, torch.float16, enabled=half):
            loss = objective(view, batch, 0.5) if objective else view.likelihood(batch)
        _with_clock(loss.backward, "backward", spent)()
        spent["all"] += _now() - begun
    return {part: 1000 * seconds / updates for part, seconds in spent.items()}


def _with_clock(function: Callable[..., Any], part: str, spent: dict[str, float]) -> Callable[..., Any]:
    def wrapped(*arguments: Any, **named: Any) -> Any:
        begun = _now()
        result = function(*arguments, **named)
        spent[part] += _now() - begun
        return result

    return wrapped


def _now() -> float:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


def format_mean(values: list[float], digits: int = 2) -> str:
    spread = f" ± {stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{mean(values):.{digits}f}{spread}"


def report(results: dict[str, list[dict[str, float]]], times: dict[str, dict[str, float]]) -> None:
    columns = ("greedy_bleu", "beam_bleu", "beam_exact", "beam_edit_rate", "exposure", "minutes")
    print("| objective |", " | ".join(name.replace("_", " ") for name in columns), "|")
    print("|---" * (len(columns) + 1) + "|")
    for kind, runs in results.items():
        cells = [format_mean([run[c] for run in runs], 3 if c == "exposure" else 2) for c in columns]
        print(f"| {kind} |", " | ".join(cells), "|")
    print("\n| an update by | times likelihood | ms |", " | ".join(PARTS), "| rest |")
    print("|---" * (len(PARTS) + 4) + "|")
    for kind, parts in times.items():
        shares = [parts[name] for name in PARTS]
        cells = [f"{x:.1f}" for x in (parts["all"], *shares, parts["all"] - sum(shares))]
        print(f"| {kind} | {parts['all'] / times['likelihood']['all']:.1f} |", " | ".join(cells), "|")


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, help="models trained by likelihood")
    parser.add_argument("--recipe", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--kinds", default=",".join(RUNS))
    parser.add_argument("--set", action="append", default=[], metavar="KIND.objective.KEY=VALUE")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--updates", type=int, default=20, help="that are timed")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main() -> None:
    asked = options()
    recipe = expand_paths(read(asked.recipe))
    runs: dict[str, Any] = RUNS
    for text in asked.set:
        runs = apply_override(runs, text)
    results: dict[str, list[dict[str, float]]] = {}
    kinds = asked.kinds.split(",")
    for seed, folder in enumerate(asked.folders):
        seeded = replace(recipe, training=replace(recipe.training, seed=seed))
        minutes = train(seeded, folder, asked.device)
        scores = evaluate_model(folder, recipe, asked.device)
        results.setdefault("where all begin", []).append(scores | {"minutes": minutes})
        for kind in kinds:
            out = asked.out / kind / f"seed-{seed}"
            minutes = train(with_objective(seeded, runs[kind]), out, asked.device, folder)
            scores = evaluate_model(out, recipe, asked.device)
            results.setdefault(kind, []).append(scores | {"minutes": minutes})
            print(kind, seed, json.dumps(results[kind][-1]), file=sys.stderr, flush=True)
    first = asked.folders[0]
    times = {
        kind: time_updates(first, with_objective(recipe, runs[kind]), asked.device, asked.updates)
        for kind in dict.fromkeys(("likelihood", *kinds))
    }
    if asked.json:
        print(json.dumps({"results": results, "milliseconds": times}))
    else:
        report(results, times)


if __name__ == "__main__":
    main()
