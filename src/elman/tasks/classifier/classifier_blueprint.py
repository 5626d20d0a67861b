"""The parts of a classifier, for whoever runs it elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import nn

from elman.tasks.word_blueprint import list_word_parts

if TYPE_CHECKING:
    from elman.tasks.classifier.task import Classifier


def list_classifier_parts(task: Classifier) -> dict[str, Any]:
    """Read words, recur, pool, decide; beside that, n-grams."""
    net, names = task.net, task.labels.items
    level = task.featurizer.tokenizer.level
    return {
        "kind": "classifier",
        "separator": " " if level == "word" else "",
        "words": list_word_parts(task.featurizer, net.words),
        "maxTokens": net.max_tokens,
        "chunk": net.chunk,
        "layers": getattr(net, "encode", []),
        "pool": net.pool,
        "decide": [layer for layer in net.decide if isinstance(layer, nn.Linear)],
        "ngrams": net.ngrams,
        "mix": net.mix,
        "labels": list(names),
        "decision": task.decision.list_parts(names),
    }
