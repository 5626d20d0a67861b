"""Demonstrations: each trains for a minute on data that is there already."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elman.demo.demonstration import Demo

DEMOS = {
    "seq2seq": "pronunciation",
    "lm": "docstring_lm",
    "classifier": "parameter_types",
    "tagger": "punctuation",
}
"""By task: the module of its demo."""


def prepare_demo(task: str, minutes: float) -> Demo[Any]:
    """The demo of a task, its data read, to train for so many minutes at most; 0: for its updates."""
    demo: Demo[Any] = import_module(f"elman.demo.{DEMOS[task]}").prepare(minutes)
    return demo
