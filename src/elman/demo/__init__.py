"""Demonstrations: each trains for a minute on data that is there already."""

from __future__ import annotations

from collections.abc import Callable

from elman.demo import describing, pronouncing, punctuation, writing
from elman.demo.demo import Demo as Demo
from elman.demo.demo import Table as Table

DEMOS: dict[str, Callable[[float], Demo]] = {
    "seq2seq": pronouncing.prepared,
    "lm": writing.prepared,
    "classifier": describing.prepared,
    "tagger": punctuation.prepared,
}
"""By task: from how many minutes to train to the demo, its data read."""
