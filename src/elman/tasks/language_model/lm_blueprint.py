"""The parts of a language model, and a text of its own, for whoever runs it elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elman.errors import ModelError
from elman.generation import Sampling, generate

if TYPE_CHECKING:
    from elman.tasks.language_model.task import LanguageModel


def list_lm_parts(task: LanguageModel) -> dict[str, Any]:
    """Embed, recur, say what comes next."""
    net = task.net
    if net.ngrams is not None:
        raise ModelError("the model has n-grams, which run in Python only; train one with --set model.ngrams=0")
    return {
        "kind": "language_model",
        "tokenizer": task.tokenizer,
        "separator": " " if task.tokenizer.level == "word" else "",
        "start": task.end,
        "embed": net.embed,
        "layers": net.layers,
        "output": net.softmax,
    }


def write_sample(task: LanguageModel) -> str:
    """A short text of its own, the same each time: the longest line of a few."""
    tokens = 60 if task.tokenizer.level in ("char", "byte") else 15
    lines = generate(task, "", Sampling(temperature=0.7, seed=1), n=8, max_tokens=tokens)
    return max((line.text.strip() for line in lines), key=len)
