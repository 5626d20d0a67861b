"""The parts of a classifier, for whoever runs it elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import nn

from elman.errors import ModelError
from elman.tasks.word_blueprint import list_word_parts

if TYPE_CHECKING:
    from elman.tasks.classifier.task import Classifier


def list_classifier_parts(task: Classifier) -> dict[str, Any]:
    """Read words, recur, pool, decide."""
    net, names = task.net, task.labels.items
    if net.max_tokens or net.chunk:
        raise ModelError("the model reads long texts in parts (model.max_tokens, model.chunk): in Python only")
    if net.ngrams is not None:
        raise ModelError(
            "the model has n-grams, which a page cannot run; train it with --set model.ngrams=false"
        )
    level = task.featurizer.tokenizer.level
    return {
        "kind": "classifier",
        "separator": " " if level == "word" else "",
        "words": list_word_parts(task.featurizer, net.words),
        "layers": getattr(net, "encode", []),
        "pool": net.pool,
        "decide": [layer for layer in net.decide if isinstance(layer, nn.Linear)],
        "labels": list(names),
        "decision": task.decision.list_parts(names),
    }
