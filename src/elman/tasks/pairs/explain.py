"""How a pair is read: what speaks for its label, and which words are aligned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from elman.errors import ConfigError
from elman.shapes import Bool, Float, Tensor
from elman.tasks.pairs.data import split_line
from elman.tasks.pairs.network import PairsNetwork
from elman.tasks.results import Alignment, LayerPass, Question, TextTrace
from elman.tasks.word_batch import collate

if TYPE_CHECKING:
    from elman.tasks.pairs.task import Pairs

BETWEEN = "⇥"  # stands between the two texts; its x is zero, so that it says nothing


def trace(task: Pairs, text: str, word: int | None) -> TextTrace:
    """The likeliest label of two texts with a tab between them is explained, against the next one."""
    if word is not None:
        raise ConfigError("a pair has one answer for both texts: leave out the word")
    net, pair = task.net, split_line(text)
    rows, forms = task.featurizer.texts(pair)
    line = np.concatenate([rows[0], [0], rows[1]]).astype(np.int32)
    words = collate([line], forms).to(task.device)
    with torch.no_grad():
        xs = net.words(words)
        texts, mask = _separate(xs, len(rows[0]))
        asked = task.decision.contrast(net.logits(texts, mask), task.labels.items)

    def margin() -> Tensor:
        return asked.margin(net.logits(*_separate(net.words(words), len(rows[0]))))

    first, second = (task.featurizer.display(text) for text in pair)
    alignment = None
    if net.compare is not None:
        weights = net.alignment(texts, mask)[1, : len(second), : len(first)]
        alignment = Alignment(first, second, weights.float().cpu())
    tokens, blank = [*first, BETWEEN, *second], " " if task.featurizer.tokenizer.level == "word" else ""
    question = Question("the pair", asked.answer, asked.other)
    passes = _passes(net, texts, mask, (first, second))
    return TextTrace(tokens, blank, passes, net.words, margin, [question], alignment=alignment)


@torch.no_grad()
def _passes(net: PairsNetwork, xs: Tensor, mask: Tensor, texts: tuple[list[str], list[str]]) -> list[LayerPass]:
    """Each text as it is read, and where words are aligned, as what was compared is read."""
    seen = [("", net.encode, xs)]
    if net.compare is not None:
        seen.append((", compared", net.compare.compose, net.read_compared(xs, mask)))
    return [
        LayerPass(f"{which} text{how}", words, layers, xs[i : i + 1, : len(words)])
        for how, layers, xs in seen
        for i, (which, words) in enumerate(zip(("first", "second"), texts, strict=True))
    ]


def _separate(xs: Float[Tensor, "1 L D"], first: int) -> tuple[Float[Tensor, "2 T D"], Bool[Tensor, "2 T"]]:
    """The words of both texts, one below the other; ``first`` is how many the first one has."""
    texts = [xs[0, :first], xs[0, first + 1 :]]
    mask = pad_sequence([x.new_ones(len(x), dtype=torch.bool) for x in texts], batch_first=True)
    return pad_sequence(texts, batch_first=True), mask
