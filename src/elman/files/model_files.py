"""The files of a model folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

CONFIG = "config.json"  # all settings; it comes last into a folder
WEIGHTS = "model.safetensors"
METRICS = "metrics.json"
CARD = "README.md"
CELL = "cell.json"  # the formula of the model's cell, where it is not one of Elman's
RUN = "run.json"  # versions, data, machine, command and duration of the training

SEEDS = "seeds.json"  # of several runs, in the folder around theirs
FOLDS = "folds.json"  # of a cross-validation, in the folder around its runs
CURVE_FILES = CURVE_FOLDER, CURVE, CURVE_PICTURE = "curve", "curve.json", "curve.png"  # of a learning curve

CHECKPOINT = "checkpoint.safetensors"  # of a run that can be resumed
METRICS_LOG = "metrics.jsonl"
PRETRAINING_LOG = "pretraining.jsonl"  # the same of a first phase on unlabelled text
PRETRAINED = "pretrained.safetensors"  # the weights after that, where a run begins twice from them
RUN_IDS = "tracking.json"  # what a resumed run goes on with at W&B and MLflow
RUN_FILES = (CHECKPOINT, METRICS_LOG, PRETRAINING_LOG, PRETRAINED, RUN_IDS, "tensorboard", "wandb")
"""What a run leaves beside its model."""

JOINT_VOCABULARY = ("vocab.json", "tokenizer.json")  # one of the two
VOCABULARIES = tuple(f"{side}{n}" for side in ("", "source-", "target-") for n in JOINT_VOCABULARY)
DECISION = "decision.json"  # temperature and thresholds, chosen on validation data
READERS = "readers.json"  # language models of characters that a task reads beside its words
_WORD_FILES = ("spelling.json", "further.json", "inputs.json", READERS)
TASK_FILES = ("labels.json", DECISION, *VOCABULARIES, *_WORD_FILES)
"""What a task may store beside its weights: of these a folder has some."""
MODEL_FILES = (CONFIG, WEIGHTS, METRICS, CARD, RUN, CELL, *TASK_FILES)
BEGUN_FILES = (RUN, CELL, *TASK_FILES, *RUN_FILES)  # of a run that has no model yet


def remove_files(folder: Path, names: Iterable[str]) -> None:
    """Take away those of the files that are there."""
    for name in names:
        (folder / name).unlink(missing_ok=True)
