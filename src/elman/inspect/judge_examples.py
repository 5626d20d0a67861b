"""A model judged on examples of one's own."""

from __future__ import annotations

from typing import Any

from elman.tasks.base import Task
from elman.tasks.judgement import Judgement


def judge_examples(model: Task, examples: Any) -> Judgement:
    """How a model does on each of the examples, which are given as to ``evaluate``."""
    return model.judge(model.read_dataset(examples), lambda what, done, total: None)
