"""Answers to texts: some sources at a time are searched, by one model or by several together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import torch

from elman.decoding import Hypothesis
from elman.errors import ConfigError
from elman.generation.cursor import truncate_at_stop
from elman.shapes import Float, Tensor
from elman.state import eval_mode
from elman.tasks.parallel_map import parallel_map
from elman.tasks.seq2seq.data import EncodedPair
from elman.tasks.seq2seq.loss import teacher_forced
from elman.tasks.seq2seq.quick_step import QuickSteps
from elman.tasks.seq2seq.ranking import rank_hypotheses, ranking_weight
from elman.tasks.seq2seq.search import DecodingConfig, chunks, write
from elman.text.length_limit import check_lengths
from elman.text.vocab import UNK

if TYPE_CHECKING:
    from elman.tasks.seq2seq.task import Seq2Seq


class Translation(NamedTuple):
    """An answer to a text."""

    text: str
    score: float  # what answers are ranked by: log p / length^penalty
    tokens: list[str]
    log_probs: list[float]  # one for each token, and for the end where it ended by itself


def translate_rows(
    tasks: Sequence[Seq2Seq], rows: Sequence[EncodedPair], decoding: DecodingConfig
) -> list[list[Translation]]:
    """The best answers to each source; of several models the mean of their probabilities decides."""
    first, *others = tasks
    for other in others:
        same = first.tokenizers.matches(other.tokenizers)
        if not same or other.config.copying != first.config.copying:
            raise ConfigError("models that write together must have the same tokens")
    check_lengths(len(row.source) for row in rows)
    numbers = [i for i, row in enumerate(rows) if row.source]
    parts = [[numbers[i] for i in some] for some in chunks([len(rows[i].source) for i in numbers])]
    parts.reverse()  # the longest first, lest all wait for it at the end
    answers = [[Translation("", 0.0, [], [])] for _ in rows]
    with ExitStack() as stack:
        for task in tasks:
            stack.enter_context(eval_mode(task.net))
        answer = _answerer(tasks, rows, decoding)
        on_cpu = first.device.type == "cpu"
        found = parallel_map(answer, parts) if on_cpu else [*map(answer, parts)]
    for some, best in zip(parts, found, strict=True):
        for i, one in zip(some, best, strict=True):
            answers[i] = one
    return answers


def _answerer(
    tasks: Sequence[Seq2Seq], rows: Sequence[EncodedPair], decoding: DecodingConfig
) -> Callable[[list[int]], list[list[Translation]]]:
    """What answers some of the rows, by number; threads may do so side by side."""
    first, nets = tasks[0], [one for task in tasks for one in task.net.members]
    weight = ranking_weight(nets, decoding)
    searched = replace(decoding, n_best=decoding.beam) if weight else decoding
    with torch.no_grad():
        half = decoding.precision == "bfloat16"
        writers = [QuickSteps(deepcopy(net).bfloat16() if half else net) for net in nets]

    @torch.no_grad()  # inside, for threads of its own
    def answer(some: list[int]) -> list[list[Translation]]:
        chosen = [rows[i] for i in some]
        batch = first.collate(chosen)

        def text(number: int, ids: list[int]) -> str:
            return first.tokenizers.join_tokens(first.tokenizers.decode(ids, chosen[number]), ids)

        written = write([one.begin(batch, decoding.beam) for one in writers], batch, searched, text)
        if weight:
            written = rank_hypotheses(nets, batch, written, decoding, weight)
        return [
            [_translation(first, row, one, decoding.stop) for one in best]
            for row, best in zip(chosen, written, strict=True)
        ]

    return answer


def _translation(task: Seq2Seq, row: EncodedPair, best: Hypothesis, stop: Sequence[str]) -> Translation:
    ids, tokens = best.tokens, task.tokenizers.decode(best.tokens, row)
    if task.config.replace_unk and UNK in ids:  # by the word of the source that was looked at most
        words = task.tokenizers.source.tokens(row.text)
        looked = attention_weights(task, row, ids).argmax(-1).tolist()
        tokens = [words[looked[i]] if ids[i] == UNK else token for i, token in enumerate(tokens)]
    text = truncate_at_stop(task.tokenizers.join_tokens(tokens, ids), stop)
    return Translation(text, best.score, tokens, best.log_probs)


@torch.no_grad()
def attention_weights(task: Seq2Seq, row: EncodedPair, ids: Sequence[int]) -> Float[Tensor, "T S"]:
    """Where the decoder looks when it writes these tokens; the mean over all members."""
    looked, batch = [], task.collate([row._replace(target=list(ids))])
    with eval_mode(task.net) as net:
        for one in net.members:
            weights = teacher_forced(one, batch).weights
            assert weights is not None
            looked.append(weights[0].float().cpu())
    return torch.stack(looked).mean(0)
