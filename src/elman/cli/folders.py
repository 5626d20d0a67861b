"""Arguments that name a model folder or a file, and the model in the folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elman.errors import ModelError

if TYPE_CHECKING:
    from elman.tasks.seq2seq import Seq2Seq
    from elman.tasks.writing.predictor import Predictor

USES = {
    "classifier": "a classifier: elman predict uses it",
    "tagger": "a tagger: elman predict uses it",
    "lm": "a language model: elman generate, complete and score use it",
    "seq2seq": "a sequence-to-sequence model: elman translate uses it",
}
"""By task, what a folder holds and the verbs that are for it alone."""

model_folder = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
text_file = click.argument("file", default="-", type=click.Path(allow_dash=True))


def refuse(folder: Path, task: str) -> ModelError:
    """What to say of a model that another verb is for."""
    return ModelError(f"{folder} holds {USES[task]}")


def language_model(folder: Path, device: str) -> Predictor:
    """The language model in a folder."""
    model: Predictor = _load(folder, device, "lm")
    return model


def translator(folder: Path, device: str) -> Seq2Seq:
    """The sequence-to-sequence model in a folder."""
    model: Seq2Seq = _load(folder, device, "seq2seq")
    return model


def _load(folder: Path, device: str, task: str) -> Any:
    from elman import artifact

    found = artifact.read_config(folder)["task"]
    if found != task:
        raise refuse(folder, found)
    return artifact.load(folder, device=device)
