"""The search for one answer as a tree."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import torch

from elman.decoding import BeamTree, grow_tree
from elman.state import eval_mode
from elman.tasks.seq2seq.explain import display_target
from elman.tasks.seq2seq.loss import decoder_step
from elman.tasks.seq2seq.ranking import rank_hypotheses, ranking_weight
from elman.tasks.seq2seq.search import DecodingConfig, trace_search
from elman.text.vocab import BOS, SPECIALS

if TYPE_CHECKING:
    from elman.tasks.seq2seq.task import Seq2Seq


@torch.no_grad()
def search_tree(tasks: Sequence[Seq2Seq], text: str, config: DecodingConfig) -> BeamTree:
    """What was kept and pruned while models wrote their answer to a text, together."""
    first = tasks[0]
    row = first.encode_pair(text)
    batch = first.collate([row])

    def join(number: int, ids: list[int]) -> str:
        return first.tokenizers.join_tokens(first.tokenizers.decode(ids, row), ids)

    with ExitStack() as stack:
        for task in tasks:
            stack.enter_context(eval_mode(task.net))
        nets = [one for task in tasks for one in task.net.members]
        weight = ranking_weight(nets, config)
        searched = replace(config, n_best=config.beam) if weight else config
        events, best = trace_search([decoder_step(net, batch) for net in nets], batch, searched, join)
        if weight:
            (best,) = rank_hypotheses(nets, batch, [best], config, weight)
    return grow_tree(events, best, partial(display_target, first, row), start=SPECIALS[BOS])
