"""How a classifier reads: gates, what speaks for its label, and where it attends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from elman.errors import ConfigError
from elman.inspect.layer_gates import layer_gates
from elman.inspect.reading import Reading
from elman.inspect.saliency import Saliency, Shares, attributed, best_two
from elman.layers.pooling import Attention
from elman.shapes import Tensor
from elman.tasks.classifier import Classifier
from elman.tasks.words import side_by_side
from elman.tasks.writing.spelled import in_words, shown


def read(model: Classifier, text: str, word: int | None) -> Reading:
    """The likeliest label is explained, against the next one."""
    if word is not None:
        raise ConfigError("a classifier has one answer for the whole text: leave out the word")
    net, names = model.net, model.labels.items
    words = side_by_side(*model.lexicon.texts([text])).to(next(net.parameters()).device)
    with torch.no_grad():
        xs = net.words(words)
        best, other = (int(label) for label in best_two(net.judge(xs, words.mask)))

    def margin() -> Tensor:
        logits: Tensor = net(words)
        return logits[:, best] - logits[:, other]

    shares = attributed(net.words, margin)
    pool = net.pool
    return Reading(
        _tokens(model, text),
        " " if in_words(model.lexicon.codec) else "",
        layer_gates(net.encode, xs) if hasattr(net, "encode") else [],
        [Saliency("the text", names[best], names[other], shares[0])],
        attention=attended(pool, lambda: net(words)) if isinstance(pool, Attention) else None,
    )


@torch.no_grad()
def attended(pool: Attention, run: Callable[[], object]) -> Shares:
    """α_{1:T} of one text: the softmax of what ``v`` gives while ``run`` runs the network."""
    seen: list[Tensor] = []

    def keep(module: nn.Module, given: Any, scores: Tensor) -> None:
        seen.append(scores)

    watch = pool.v.register_forward_hook(keep)
    try:
        run()
    finally:
        watch.remove()
    (scores,) = seen
    alpha: Shares = scores[0, :, 0].double().softmax(0).cpu().numpy()
    return alpha


def _tokens(model: Classifier, text: str) -> list[str]:
    codec: Any = model.lexicon.codec
    if model.lexicon.spelling:  # words are read as they are written
        return list(codec.tokenizer.cut(text))
    return shown(codec, text, 0)[:-1]
