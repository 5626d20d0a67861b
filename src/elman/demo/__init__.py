"""Demonstrations: each trains for a minute on data that is there already."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from elman.demo import docstring_lm, parameter_types, pronunciation, punctuation
from elman.demo.demonstration import Demo as Demo

DEMOS: dict[str, Callable[[float], Demo[Any]]] = {
    "seq2seq": pronunciation.prepare,
    "lm": docstring_lm.prepare,
    "classifier": parameter_types.prepare,
    "tagger": punctuation.prepare,
}
"""By task: from how many minutes to train to the demo, its data read."""
