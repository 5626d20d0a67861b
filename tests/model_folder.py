"""A model folder with any record of its training, for tests that need one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elman import artifact
from elman.folders.output_folder import claim_for_saving
from elman.tasks.base import Task
from elman.tasks.results import ModelRecord


def store_model(task: Task, folder: Path, *, config: Mapping[str, Any], **record: Any) -> None:
    """Put a model into a folder, in place of the one there."""
    parts = {"metrics": {}, "card": "", "run": {}} | record
    with claim_for_saving(Path(folder), overwrite=False) as staging:
        artifact.write_model(task, ModelRecord(None, config, **parts), staging)
