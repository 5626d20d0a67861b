"""How a classifier reads: its gates, what speaks for its label, and where it attends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from elman.errors import ConfigError
from elman.layers.pooling import AttentionPooling
from elman.shapes import Float, Tensor
from elman.tasks.results import LayerPass, Question, TextTrace
from elman.tasks.word_batch import collate

if TYPE_CHECKING:
    from elman.tasks.classifier.task import Classifier


def trace(task: Classifier, text: str, word: int | None) -> TextTrace:
    """The likeliest label is explained, against the next one; of several labels, against not giving it."""
    if word is not None:
        raise ConfigError("a classifier has one answer for the whole text: leave out the word")
    net = task.net
    words = collate(*task.featurizer.texts([text])).to(task.device)
    with torch.no_grad():
        xs = net.words(words)
        asked = task.decision.contrast(net(words), task.labels.items)

    def margin() -> Tensor:
        return asked.margin(net(words))

    tokens, blank = task.featurizer.display(text), " " if task.featurizer.tokenizer.level == "word" else ""
    layers, question = getattr(net, "encode", None), Question("the text", asked.answer, asked.other)
    passes = [] if layers is None else [LayerPass("", tokens, layers, xs)]
    looked = _attention(net.pool, net, words) if isinstance(net.pool, AttentionPooling) else None
    return TextTrace(tokens, blank, passes, net.words, margin, [question], attention=looked)


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
