"""The n-grams of a training text: counted before a run, mixed with the network that it trained.

While the network trains they stand beside it: they are many numbers, which an update would copy each time, and
validation mixes them in anew, as the trained model will.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from elman.layers.kneser_ney import KneserNey
from elman.layers.ngram_mixture import MixtureCosts, NGramMixture, join_costs
from elman.shapes import Tensor
from elman.state import eval_mode
from elman.text.batching import BPTTWindows

if TYPE_CHECKING:
    from elman.tasks.language_model.data import LanguageModelDataset
    from elman.tasks.language_model.task import LanguageModel

_PREFIX = "ngrams."  # of their names among the weights of a model
_WINDOW = 4096  # tokens that are read at once


def count_ngrams_of(task: LanguageModel, data: LanguageModelDataset) -> list[NGramMixture]:
    """Those of the text, after those that the network has from an earlier one, which are taken from it."""
    former, task.net.ngrams = task.net.ngrams, None
    options = task.config
    if not options.ngrams:
        return []
    counted = KneserNey.fit(
        np.asarray(data.ids),
        task.net.vocabulary,
        order=options.ngrams,
        first=task.end,
        least=options.ngram_least,
    )
    return [*([former] if former else []), NGramMixture(counted).to(task.device)]


def load_ngrams(weights: Mapping[str, Tensor], vocabulary: int) -> NGramMixture | None:
    """An empty one for those among the weights of a model, if there are any."""
    own = {name.removeprefix(_PREFIX): w for name, w in weights.items() if name.startswith(_PREFIX)}
    return NGramMixture.like(own, vocabulary) if own else None


def mix_best(task: LanguageModel, candidates: Sequence[NGramMixture], data: LanguageModelDataset) -> float:
    """Give the network the n-grams that make a text likeliest, with the λ that does: what it costs then."""
    totals = []
    for one in candidates:
        task.net.ngrams = one
        costs = join_costs(_read_costs(task, one, data))
        one.fit_share(costs)
        totals.append(float(one.mix(costs).double().sum()))
    task.net.ngrams = candidates[totals.index(min(totals))]
    return min(totals)


def _read_costs(
    task: LanguageModel, mixture: NGramMixture, data: LanguageModelDataset
) -> Iterator[MixtureCosts]:
    windows = BPTTWindows(data.ids, data.rows, max(1, _WINDOW // data.rows), first=task.end)
    with torch.no_grad(), eval_mode(task.net) as net:
        state = net.begin(data.rows)
        for batch in map(task.collate, windows()):
            state, hs = net.read(state, batch.ids)
            costs = mixture.costs(net.softmax, hs, batch.targets)
            yield MixtureCosts(*(part[batch.mask] for part in costs))
