"""Looking at a model while it reads one text. One file a task says how its network reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from elman.errors import ModelError
from elman.inspect.readers import classifier, language_model, seq2seq, tagger
from elman.inspect.reading import Reading
from elman.inspect.saliency import at_rest
from elman.tasks.classifier import Classifier
from elman.tasks.kinds import Task
from elman.tasks.language_model import LanguageModel
from elman.tasks.seq2seq import Seq2Seq
from elman.tasks.tagger import Tagger

READERS: dict[type[Any], Callable[[Any, str, int | None], Reading]] = {
    Classifier: classifier.read,
    Tagger: tagger.read,
    LanguageModel: language_model.read,
    Seq2Seq: seq2seq.read,
}
"""How a model of each task reads a text."""


def read_text(model: Task, text: str, *, word: int | None = None) -> Reading:
    """Gates, saliency, attention and surprise while a model reads a text of one line.

    Explained are: of a classifier its label; of a tagger the tag of every word, or of ``word`` (from 1)
    alone; of a language model what it expects after the text, or why it expected token ``word`` there; of a
    sequence-to-sequence model every token of its answer, or token ``word`` of it.
    """
    if not text.strip():
        raise ModelError("the text is empty: there is nothing to read")
    if len(text.splitlines()) > 1:
        raise ModelError("the text has several lines: look at one at a time")
    if type(model) not in READERS:
        raise ModelError(f"how a {type(model).__name__} reads a text cannot be looked at")
    with at_rest(model.net):
        return READERS[type(model)](model, text, word)
