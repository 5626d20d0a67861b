"""The tasks: one line each."""

from __future__ import annotations

from elman.tasks import classifier, language_model, pairs, seq2seq, tagger
from elman.tasks.spec import TaskSpec

TASKS: dict[str, TaskSpec] = {
    spec.name: spec for spec in (classifier.SPEC, tagger.SPEC, language_model.SPEC, seq2seq.SPEC, pairs.SPEC)
}
"""By the name that a recipe and a model folder say."""
