"""An evaluation of a text, line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from elman.metrics import count_mean, count_perplexity
from elman.tasks.judgement import Judgement
from elman.tasks.language_model.data import LanguageModelDataset
from elman.tasks.results import Report
from elman.text.vocab import UNK

if TYPE_CHECKING:
    from elman.tasks.language_model.task import LanguageModel


def judge_lines(task: LanguageModel, data: LanguageModelDataset, **options: Any) -> Judgement:
    """The report, and what each line adds to it, its end included; lines are read on, not one by one."""
    costs = torch.cat([*task.token_costs(data, **options)]).cpu().numpy()
    ids = np.asarray(data.ids)
    starts = np.concatenate([[0], np.flatnonzero(ids == task.end)[:-1] + 1])
    if ids[-1] != task.end:  # a text without an end of line at its end
        starts = np.concatenate([[0], np.flatnonzero(ids == task.end) + 1])
    nats, tokens = np.add.reduceat(costs, starts), np.diff(starts, append=len(ids))
    words = task.tokenizer.level == "word"
    return Judgement(
        Report(task.score_costs(data, float(costs.sum())), digits=4),
        "lines",
        lambda: {"perplexity": count_perplexity(nats, tokens), "nats_per_line": count_mean(nats)},
        tokens=tokens.astype(np.int64),
        unseen=np.add.reduceat((ids == UNK).astype(np.int64), starts) if words else None,
        vocabulary=task.tokenizer.items,
    )
