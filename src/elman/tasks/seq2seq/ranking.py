"""Answers ranked by two judges: the decoder that found them, and the encoder, which spells them by itself."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log

import torch

from elman.decoding import Hypothesis
from elman.decoding.hypotheses import length_divisor
from elman.shapes import Float, Tensor
from elman.tasks.seq2seq.loss import to_vocabulary
from elman.tasks.seq2seq.network import Seq2SeqNetwork
from elman.tasks.seq2seq.search import DecodingConfig, Seq2SeqBatch
from elman.text.batching import pad
from elman.text.vocab import EOS


def ranking_weight(nets: Sequence[Seq2SeqNetwork], decoding: DecodingConfig) -> float:
    """How much the encoders' word counts; 0 where there is nothing to choose from."""
    return min(net.spelling_weight for net in nets) if decoding.beam > 1 else 0.0


def rank_hypotheses(
    nets: Sequence[Seq2SeqNetwork],
    batch: Seq2SeqBatch,
    written: Sequence[Sequence[Hypothesis]],
    decoding: DecodingConfig,
    weight: float,
) -> list[list[Hypothesis]]:
    """The best of each source by (log p + weight · log p_CTC) / length^α, each with that as its score.

    Behind them stand those that are too long for CTC, as the decoder ranks them.
    """
    flat = [(row, one) for row, some in enumerate(written) for one in some]
    ranked: list[list[tuple[bool, float, Hypothesis]]] = [[] for _ in written]
    for (row, one), log_p in zip(flat, _spell(nets, batch, flat).tolist(), strict=True):
        possible, length = log_p > -inf, length_divisor(len(one.log_probs), decoding.length_penalty)
        score = one.score + weight * log_p / length if possible else one.score
        ranked[row].append((possible, score, one._replace(score=score)))
    best_first = (sorted(some, key=lambda each: each[:2], reverse=True) for some in ranked)
    return [[one for _, _, one in some[: decoding.n_best]] for some in best_first]


def _spell(
    nets: Sequence[Seq2SeqNetwork], batch: Seq2SeqBatch, flat: Sequence[tuple[int, Hypothesis]]
) -> Float[Tensor, " N"]:
    """log p_CTC of hypotheses, each about a row of the batch, by the mean probability of all networks."""
    rows = torch.tensor([row for row, _ in flat], device=batch.source.device)
    target, mask = (part.to(rows.device) for part in pad([[*one.tokens, EOS] for _, one in flat]))
    each = []
    for net in nets:
        assert net.speller is not None
        encoded = net.encode(batch.source, batch.mask)
        encoded = encoded._replace(ys=encoded.ys[rows], mask=encoded.mask[rows])
        each.append(-net.speller.nll(encoded, to_vocabulary(net, target), mask, refuse=True))
    return torch.stack(each).logsumexp(0) - log(len(each))
