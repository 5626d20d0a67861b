"""The baseline of a language model: counted n-grams with Kneser-Ney smoothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch

from elman.layers.kneser_ney import KneserNey
from elman.shapes import Float, Tensor
from elman.tasks.baseline_result import BaselineResult, name_part
from elman.tasks.language_model.data import LanguageModelDataset

if TYPE_CHECKING:
    from elman.tasks.language_model.task import LanguageModel

_PER_SECOND = 3_000_000  # n-grams of all orders that are counted in a second of one core
_MOST = 20_000_000  # n-grams of all orders, by the memory they take
_CHUNK = 2**18  # tokens that are judged at a time


def judge_ngrams(
    task: LanguageModel, training: LanguageModelDataset, valid: LanguageModelDataset, seconds: float
) -> BaselineResult:
    """5-grams of words or pieces of them, 8-grams of characters or bytes; of a large text those of its end."""
    order = 8 if task.tokenizer.level in ("char", "byte") else 5
    tokens = min(len(training), int(min(seconds * _PER_SECOND, _MOST)) // order)
    ids = training.ids[len(training) - tokens :]
    model = KneserNey.fit(ids, len(task.tokenizer.items), order=order, first=task.end)
    total = sum(float(costs.double().sum()) for costs in _judge(model, valid, task.end))
    name = name_part(f"Kneser-Ney {order}-grams", tokens, len(training), "tokens")
    return BaselineResult(name, task.score_costs(valid, total))


def _judge(model: KneserNey, data: LanguageModelDataset, first: int) -> Iterator[Float[Tensor, " T"]]:
    """-log p of the tokens, some at a time, each with all before it."""
    context, last = model.begin(1), torch.tensor([[first]])
    for i in range(0, len(data), _CHUNK):
        targets = torch.from_numpy(data.ids[i : i + _CHUNK].astype("int64"))[None]
        contexts = model.follow(context, torch.cat([last, targets[:, :-1]], 1))
        yield model.nll(contexts, targets)[0]
        context, last = contexts[:, -1], targets[:, -1:]
