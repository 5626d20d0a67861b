"""Elman: recurrent neural networks on text.

What a user types: ``elman.train``, ``elman.load`` and the tasks. All of it is loaded when it is first used,
so that ``import elman`` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elman.artifact import load as load
    from elman.learning import train as train
    from elman.tasks.classifier import Classifier as Classifier
    from elman.tasks.language_model import LanguageModel as LanguageModel
    from elman.tasks.seq2seq import Seq2Seq as Seq2Seq
    from elman.tasks.tagger import Tagger as Tagger

__version__ = "0.1.0"
__all__ = ["Classifier", "LanguageModel", "Seq2Seq", "Tagger", "__version__", "load", "train"]

_HOME = {
    "train": "elman.learning",
    "load": "elman.artifact",
    "Classifier": "elman.tasks.classifier",
    "LanguageModel": "elman.tasks.language_model",
    "Seq2Seq": "elman.tasks.seq2seq",
    "Tagger": "elman.tasks.tagger",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"elman has no {name!r}; it has {', '.join(_HOME)}")


def __dir__() -> list[str]:
    return sorted(__all__)
