"""Objectives in training: by configuration alone, from a trained model, resumed to the last bit."""

import random
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file

from elman.files.model_files import METRICS_LOG
from elman.objectives import draw_samples
from elman.objectives.risk import measure_costs
from elman.objectives.sample_sequences import unpad
from elman.objectives.sequence_costs import edit_cost
from elman.pipeline import run_recipe, train
from elman.pipeline.recipe import build, train_target
from elman.tasks.seq2seq.task import Seq2SeqDataConfig, read_examples
from elman.training import run as runs

KINDS = {
    "scheduled": {"p_end": 0.5, "feedback": "mixture"},
    "risk": {"cost": "edits", "samples": 4, "likelihood": 0.1},
    "reinforce": {"cost": "exact", "samples": 2, "baseline": "learned", "entropy": 0.01},
    "mixer": {"cost": "edits", "delta": 1, "start": 0.2, "every": 0.2},
    "professor": {"hidden": 8, "low": 0.0},
}


def reversals(path: Path, count: int, seed: int) -> str:
    dice = random.Random(seed)
    with path.open("w") as file:
        for _ in range(count):
            words = dice.choices("abcdef", k=dice.randint(2, 5))
            print(" ".join(words), " ".join(reversed(words)), sep="\t", file=file)
    return str(path)


def pairs(tmp_path: Path, **training: Any) -> dict[str, Any]:
    words = {"kind": "whitespace"}
    return {
        "task": "seq2seq",
        "data": {
            "train": reversals(tmp_path / "train.tsv", 80, 0),
            "valid": reversals(tmp_path / "valid.tsv", 20, 1),
            "source": "1",
            "target": "2",
        },
        "tokens": {"source": words, "target": words},
        "model": {"hidden": 12, "embedding": 8, "metric": "edit_rate"},
        "training": {"updates": 8, "evaluate_every": 3, "ema_decay": 0.9} | training,
    }


def text(tmp_path: Path, **training: Any) -> dict[str, Any]:
    path = tmp_path / "text.txt"
    dice = random.Random(0)
    path.write_text("\n".join(" ".join(dice.choices("abcdef", k=6)) for _ in range(120)))
    return {
        "task": "lm",
        "data": {"train": str(path), "bptt": 6, "streams": 8, "cache": str(tmp_path / "cache")},
        "model": {"hidden": 12, "embedding": 8, "weight_drop": 0.2, "word_dropout": 0.1},
        "training": {"updates": 8, "evaluate_every": 3} | training,
    }


def tags(tmp_path: Path, **training: Any) -> dict[str, Any]:
    path, dice = tmp_path / "tags.conll", random.Random(0)
    sentences = [dice.choices("abcdef", k=dice.randint(1, 5)) for _ in range(60)]
    path.write_text("\n\n".join("\n".join(f"{w} {w.upper()}" for w in s) for s in sentences))
    return {
        "task": "tagger",
        "data": {"train": str(path)},
        "model": {"hidden": 12, "embedding": 8, "output": "autoregressive", "characters": ""},
        "training": {"updates": 8, "evaluate_every": 3} | training,
    }


@pytest.mark.parametrize("make", [pairs, text, tags])
@pytest.mark.parametrize("kind", KINDS)
def test_every_task_can_be_trained_by_every_objective(make, kind, tmp_path):
    recipe = make(tmp_path, updates=4) | {"objective": {"kind": kind} | KINDS[kind]}
    model = train(recipe, tmp_path / "model")
    log = (tmp_path / "model" / METRICS_LOG).read_text()
    told = train_target(build(recipe), model).net["objective"].metric_names
    assert all(f'"{name}": ' in log for name in told), "an evaluation says how the objective fares"


class Interrupted(list[int]):
    """Ctrl-C after the fourth update."""

    looked = 0

    def __bool__(self) -> bool:
        self.looked += 1
        return self.looked == 4


@pytest.mark.parametrize("make", [pairs, text])
@pytest.mark.parametrize("kind", ["professor", "reinforce", "mixer"])
def test_a_resumed_run_ends_as_if_never_stopped(make, kind, tmp_path, monkeypatch):
    """To the bit: what the objective learnt is in the checkpoint, its optimizer too."""
    recipe = build(make(tmp_path) | {"objective": {"kind": kind} | KINDS[kind]})
    run_recipe(recipe, tmp_path / "whole")
    monkeypatch.setattr(runs, "defer_signals", lambda: nullcontext(Interrupted()))
    assert run_recipe(recipe, tmp_path / "parted") is None
    monkeypatch.undo()
    assert run_recipe(recipe, tmp_path / "parted", resume=True) is not None
    for name in ("model.safetensors", METRICS_LOG):
        one, other = ((tmp_path / run / name).read_bytes() for run in ("whole", "parted"))
        assert one == other, name
    # The rest of a checkpoint tells the time.
    one, other = (load_file(tmp_path / run / runs.CHECKPOINT) for run in ("whole", "parted"))
    assert one.keys() == other.keys()
    assert all(torch.equal(one[key], other[key]) for key in one)


def test_what_an_objective_learns_is_in_the_checkpoint_and_not_in_the_model(tmp_path):
    recipe = build(pairs(tmp_path) | {"objective": {"kind": "professor"}})
    outcome = run_recipe(recipe, tmp_path / "model")
    assert outcome is not None
    assert not any("objective" in name for name in outcome.model.net.state_dict())
    with safe_open(tmp_path / "model" / runs.CHECKPOINT, "pt") as file:
        names = list(file.keys())
    assert any(name.endswith("objective.discriminator.second") for name in names)


@pytest.mark.parametrize(
    ("kind", "options"),
    [("risk", {"samples": 8, "sharpness": 0.5}), ("reinforce", {"samples": 4, "baseline": "greedy"})],
)
def test_reward_rises_where_it_is_what_is_trained(kind, options, tmp_path):
    """The expected edits of samples, of a model half trained by likelihood and after further updates."""
    recipe = pairs(tmp_path, updates=90, lr=1e-2, ema_decay=0.0, evaluate_every=90)
    recipe["model"] |= {"dropout": 0.0, "label_smoothing": 0.0}
    begun = train(recipe, tmp_path / "begun")
    objective = {"kind": kind, "cost": "edits"} | options
    further = pairs(tmp_path, updates=80, lr=1e-2, ema_decay=0.0, evaluate_every=80)
    further |= {"model": recipe["model"], "objective": objective}
    further["data"] |= {"valid": "", "holdout": 0}  # the last weights are delivered, not the best
    treated = train(further, tmp_path / "by", init=tmp_path / "begun")
    assert cost(treated, recipe) < 0.85 * cost(begun, recipe)


def cost(model: Any, recipe: dict[str, Any]) -> float:
    view: Any = model.sequence_model()
    seen = list(read_examples(Seq2SeqDataConfig(source="1", target="2"), recipe["data"]["train"]))
    batch = view.collate(model.encode(seen))
    torch.manual_seed(0)
    samples = unpad(draw_samples(view, batch, 8).samples)
    return float(measure_costs(edit_cost, view, samples, unpad(view.targets(batch))).mean())
