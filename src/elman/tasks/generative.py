"""Tasks as objectives see them."""

from __future__ import annotations

from typing import Any

from elman.decoding.generative import Generative
from elman.errors import ConfigError
from elman.tasks.kinds import Task
from elman.tasks.language.generative import Continuations
from elman.tasks.language_model import LanguageModel
from elman.tasks.seq2seq import Seq2Seq
from elman.tasks.tagger import Tagger
from elman.tasks.tagging.generative import FedBack
from elman.tasks.translation.generative import Answers


def generative(task: Task) -> Generative[Any]:
    """The task as a model that writes."""
    if isinstance(task, LanguageModel):
        return Continuations(task)
    if isinstance(task, Seq2Seq):
        return Answers(task)
    if isinstance(task, Tagger):
        return FedBack(task)
    raise ConfigError(f"a {type(task).__name__} writes nothing that could be held against gold")
