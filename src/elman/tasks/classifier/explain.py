"""How a classifier reads: its gates, what speaks for its label, and where it attends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from elman.errors import ConfigError
from elman.layers.pooling import AttentionPooling
from elman.shapes import Float, Tensor
from elman.tasks.results import Question, TextTrace, best_two
from elman.tasks.word_batch import collate

if TYPE_CHECKING:
    from elman.tasks.classifier.task import Classifier


def trace(task: Classifier, text: str, word: int | None) -> TextTrace:
    """The likeliest label is explained, against the next one."""
    if word is not None:
        raise ConfigError("a classifier has one answer for the whole text: leave out the word")
    net, names = task.net, task.labels.items
    words = collate(*task.featurizer.texts([text])).to(task.device)
    with torch.no_grad():
        xs = net.words(words)
        best, other = (int(label) for label in best_two(net.logits(xs, words.mask)))

    def margin() -> Tensor:
        logits: Tensor = net(words)
        return logits[:, best] - logits[:, other]

    tokens, blank = task.featurizer.display(text), " " if task.featurizer.tokenizer.level == "word" else ""
    layers, question = getattr(net, "encode", None), Question("the text", names[best], names[other])
    looked = _attention(net.pool, net, words) if isinstance(net.pool, AttentionPooling) else None
    return TextTrace(tokens, blank, layers, xs, net.words, margin, [question], attention=looked)


@torch.no_grad()
def _attention(pool: AttentionPooling, net: nn.Module, words: Any) -> Float[Tensor, " T"]:
    """α_{1:T} of one text: the softmax of what ``v`` gives while the network runs."""
    seen: list[Tensor] = []
    hook = pool.v.register_forward_hook(lambda _module, _input, scores: seen.append(scores))
    try:
        net(words)
    finally:
        hook.remove()
    return seen[0][0, :, 0].double().softmax(0).cpu()
