"""The files of a model folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

CONFIG = "config.json"  # all settings; written last and removed first: a folder that has it is whole
WEIGHTS = "model.safetensors"
METRICS = "metrics.json"
CARD = "README.md"
RUN = "run.json"  # versions, data, machine, command and duration of the training

SEEDS = "seeds.json"  # of several runs, in the folder around theirs

CHECKPOINT = "checkpoint.safetensors"  # of a run that can be resumed
METRICS_LOG = "metrics.jsonl"

JOINT_VOCABULARY = ("vocab.json", "tokenizer.json")  # one of the two
VOCABULARIES = tuple(f"{side}{n}" for side in ("", "source-", "target-") for n in JOINT_VOCABULARY)
DECISION = "decision.json"  # temperature and thresholds, chosen on validation data
TASK_FILES = ("labels.json", DECISION, *VOCABULARIES, "spelling.json", "further.json", "inputs.json")
"""What a task may store beside its weights: of these a folder has some."""


def remove_files(folder: Path, names: Iterable[str]) -> None:
    """Take away those of the files that are there."""
    for name in names:
        (folder / name).unlink(missing_ok=True)
