"""Yoyodyne's LSTMs of 128 units, soft attention and monotonic hard attention, the better by validation data.

The settings are those of its example files: Adam, batches of 32, clipping at 3, label smoothing 0.1, the best
checkpoint by accuracy. Each trains for the given minutes. Letters and sounds are its symbols, or words.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from baselines import BenchSet, Outcome
from baselines.pair_sets import read_groups, score_texts
from baselines.plain_command import Finished, run_process

ENCODER = "yoyodyne.models.modules.LSTMEncoder"
MODELS: dict[str, dict[str, Any]] = {
    "soft attention": {"class_path": "yoyodyne.models.SoftAttentionLSTMModel", "lr": 1e-3, "dropout": 0.3},
    "hard attention": {
        "class_path": "yoyodyne.models.HardAttentionLSTMModel",
        "lr": 1e-3,
        "dropout": 0.2,
        "enforce_monotonic": True,
    },
}
UNITS = 128
BATCHES_PER_CHECK = 100
BENCH = Path(__file__).parents[1]


class Trained(NamedTuple):
    """A checkpoint and how good it is on validation data."""

    name: str
    config: Path
    checkpoint: Path
    accuracy: float
    seconds: float


def run_yoyodyne(corpus: BenchSet, seed: int, minutes: float) -> Outcome:
    """Words are translated by soft attention alone: hard attention goes from left to right."""
    names = list(MODELS) if corpus.metric == "exact" else ["soft attention"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_pairs(folder, corpus)
        trained = [_train(folder, corpus, model, seed, minutes) for model in names]
        best = max(trained, key=lambda model: model.accuracy)
        _call("predict", best.config, folder, "--ckpt_path", str(best.checkpoint))
        answers = (folder / "answers.txt").read_text(encoding="utf-8").splitlines()
    score = score_texts(corpus, answers)
    chosen = {"model": best.name, "search_s": round(sum(model.seconds for model in trained), 1)}
    return Outcome(corpus.name, "Yoyodyne", seed, corpus.metric, score, best.seconds, chosen)


def _train(folder: Path, corpus: BenchSet, name: str, seed: int, minutes: float) -> Trained:
    config = folder / f"{name.split()[0]}.yaml"
    # JSON is YAML, too.
    config.write_text(json.dumps(_describe(folder, corpus, name, seed, minutes)), encoding="utf-8")
    done = _call("fit", config, folder)
    checkpoint = max(folder.glob(f"{name.split()[0]}-*.ckpt"), key=_accuracy_of)
    return Trained(name, config, checkpoint, _accuracy_of(checkpoint), done.seconds)


def _accuracy_of(checkpoint: Path) -> float:
    found = re.search(r"val_accuracy=([\d.]+)\.ckpt$", checkpoint.name)
    assert found, checkpoint
    return float(found[1])


def _call(verb: str, config: Path, folder: Path, *options: str) -> Finished:
    # The path is for the class of the callback.
    code = f"import sys; sys.path.append({str(BENCH)!r}); from yoyodyne.cli.main import main; main()"
    return run_process([sys.executable, "-c", code, verb, "--config", str(config), *options], folder=folder)


def _describe(folder: Path, corpus: BenchSet, name: str, seed: int, minutes: float) -> dict[str, Any]:
    sounds = corpus.metric == "exact"
    files = {part: str(folder / f"{part}.tsv") for part in ("train", "val", "predict")}
    separators = {"source_sep": "" if sounds else " ", "target_sep": " ", "tie_embeddings": False}
    limit = {"class_path": "baselines.processor_limit.ProcessorLimit", "init_args": {"seconds": 60 * minutes}}
    return {
        "seed_everything": seed,
        "data": {**files, **separators, "model_dir": str(folder), "batch_size": 32, "max_target_length": 64},
        "model": _describe_model(**MODELS[name]),
        "checkpoint": {
            "dirpath": str(folder),
            "filename": f"{name.split()[0]}-{{epoch:03d}}-{{val_accuracy:.5f}}",
            "monitor": "val_accuracy",
            "mode": "max",
        },
        "prediction": {"path": str(folder / "answers.txt")},
        "trainer": {
            "accelerator": "cpu",
            "gradient_clip_val": 3,
            "max_epochs": -1,
            "min_epochs": 0,
            "val_check_interval": BATCHES_PER_CHECK,
            "check_val_every_n_epoch": None,
            "num_sanity_val_steps": 0,
            "enable_progress_bar": False,
            "callbacks": [limit],
        },
    }


def _describe_model(class_path: str, lr: float, dropout: float, **options: bool) -> dict[str, Any]:
    sizes = {"dropout": dropout, "embedding_size": UNITS, "hidden_size": UNITS}
    decoder = {"decoder_dropout": dropout, "decoder_hidden_size": UNITS, "embedding_size": UNITS}
    learning = {
        "optimizer": {"class_path": "torch.optim.Adam", "init_args": {"lr": lr}},
        "label_smoothing": 0.1,
    }
    encoder = {"source_encoder": {"class_path": ENCODER, "init_args": sizes}}
    return {"class_path": class_path, "init_args": {**encoder, **decoder, **learning, **options}}


def _write_pairs(folder: Path, corpus: BenchSet) -> None:
    assert corpus.valid, "yoyodyne chooses its checkpoint by validation data"

    def write(name: str, rows: Iterable[tuple[str, str]]) -> None:
        (folder / f"{name}.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in rows), encoding="utf-8")

    for name, path in (("train", corpus.train), ("val", corpus.valid)):
        write(name, ((source, target) for source, targets in read_groups(path) for target in targets))
    write("predict", ((source, targets[0]) for source, targets in read_groups(corpus.test)))
