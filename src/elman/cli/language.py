"""What the verbs of language models share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elman.tasks.writing.predictor import Predictor


def load(folder: Path, device: str) -> Predictor:
    """The language model in a folder."""
    from elman import artifact
    from elman.errors import ModelError
    from elman.tasks.writing.predictor import Predictor

    model: object = artifact.load(folder, device=device)
    if not isinstance(model, Predictor):
        kind = type(model).__name__.lower()
        raise ModelError(f"{folder} holds a {kind}; this verb is for language models")
    return model
