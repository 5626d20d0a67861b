"""Elman: recurrent neural networks on text.

What a user types: ``elman.train``, ``elman.load``, the tasks and the errors. All but the errors is loaded when
it is first used, so that ``import elman`` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from elman.errors import ArgumentError, ConfigError, DataError, ElmanError, FormulaError, ModelError

if TYPE_CHECKING:
    from elman.artifact import load
    from elman.artifact import save_model as save
    from elman.pipeline import train as train
    from elman.tasks.base import Task as Task
    from elman.tasks.classifier.task import Classifier as Classifier
    from elman.tasks.language_model.task import LanguageModel as LanguageModel
    from elman.tasks.pairs.task import Pairs as Pairs
    from elman.tasks.seq2seq.task import Seq2Seq as Seq2Seq
    from elman.tasks.tagger.task import Tagger as Tagger

__version__ = "0.1.0"
__all__ = ["Classifier", "LanguageModel", "Pairs", "Seq2Seq", "Tagger", "Task", "load", "save", "train"]
__all__ += ["ArgumentError", "ConfigError", "DataError", "ElmanError", "FormulaError", "ModelError"]
__all__ += ["__version__"]

_HOME = {
    "load": "elman.artifact:load",
    "save": "elman.artifact:save_model",
    "train": "elman.pipeline:train",
    "Task": "elman.tasks.base:Task",
}


def __getattr__(name: str) -> Any:
    homes = _HOME if name in _HOME or not name[0].isupper() else _task_homes()
    if name not in homes:
        raise AttributeError(f"elman has no {name!r}; it has {', '.join(__all__)}")
    module, attribute = homes[name].split(":")
    return getattr(import_module(module), attribute)


def _task_homes() -> dict[str, str]:
    from elman.tasks.registry import TASKS

    return {spec.home.split(":")[1]: spec.home for spec in TASKS.values()}


def __dir__() -> list[str]:
    return sorted(__all__)
