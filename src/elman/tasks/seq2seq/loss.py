"""What a target costs, and the loss of teacher forcing: the decoder reads what it should have written."""

from __future__ import annotations

from math import log

import torch
from torch.nn.functional import pad

from elman.decoding import Step
from elman.layers.cross_entropy import weighted_mean
from elman.layers.decoders.base import DecoderContext, DecoderOutput
from elman.layers.encoder import EncoderOutput
from elman.shapes import Float, Int, Tensor
from elman.state import State
from elman.tasks.seq2seq.config import Seq2SeqConfig
from elman.tasks.seq2seq.network import Seq2SeqNetwork
from elman.tasks.seq2seq.search import Seq2SeqBatch
from elman.text.vocab import BOS, UNK


def teacher_forced(net: Seq2SeqNetwork, batch: Seq2SeqBatch) -> DecoderOutput:
    """What the decoder says after each of the right tokens, all steps at once where it can."""
    return _read_targets(net, net.encode(batch.source, batch.mask), batch)


def _read_targets(net: Seq2SeqNetwork, encoded: EncoderOutput, batch: Seq2SeqBatch) -> DecoderOutput:
    session, state = net.decoder.begin(encoded)
    return net.read(session, state, tokens_before(net, batch.target))


def nll(net: Seq2SeqNetwork, batch: Seq2SeqBatch) -> Float[Tensor, "B T"]:
    """-log p of every target, by the mean probability of all members."""
    each = [costs(one, teacher_forced(one, batch), batch.target, batch.copies) for one in net.members]
    return log(len(each)) - torch.stack(each).neg().logsumexp(0)


def loss(net: Seq2SeqNetwork, config: Seq2SeqConfig, batch: Seq2SeqBatch) -> Float[Tensor, ""]:
    """Mean over tokens of -log p(y_i | y_{<i}, x), smoothed; with ``coverage``, more for a second look.

    Coverage costs λ Σ_j min(α_ij, Σ_{k<i} α_kj) a token (See et al. 2017). Members learn each for itself.
    """
    each = [_member_loss(one, config, batch) for one in net.members]
    return torch.stack(each).mean() if len(each) > 1 else each[0]


def _member_loss(net: Seq2SeqNetwork, config: Seq2SeqConfig, batch: Seq2SeqBatch) -> Float[Tensor, ""]:
    encoded = net.encode(batch.source, batch.mask)
    reading = _read_targets(net, encoded, batch)
    reading = reading._replace(os=net.drop(reading.os))
    mask = batch.target_mask
    if net.pointer is None:
        total = net.softmax.loss(reading.os, batch.target, mask)
    else:
        total = weighted_mean(costs(net, reading, batch.target, batch.copies), mask)
    if config.coverage and reading.weights is not None:
        looked = reading.weights
        twice = torch.minimum(looked, looked.cumsum(1) - looked).sum(-1)
        total = total + config.coverage * weighted_mean(twice, mask)
    if net.speller is not None:
        spelt = net.speller.nll(encoded, to_vocabulary(net, batch.target), mask).sum() / mask.sum()
        total = total + config.ctc * spelt
    return total


def decoder_step(net: Seq2SeqNetwork, batch: Seq2SeqBatch) -> tuple[Step[State], State]:
    """The step of a decoder before these sources, and the state before it has written."""
    session, first = net.decoder.begin(net.encode(batch.source, batch.mask))
    return step_after(net, session, batch), first


def step_after(net: Seq2SeqNetwork, session: DecoderContext, batch: Seq2SeqBatch) -> Step[State]:
    """The step of a decoder that has read the sources."""

    def step(state: State, tokens: Int[Tensor, " N"]) -> tuple[State, Float[Tensor, "N V"]]:
        reading = net.read(session, state, to_vocabulary(net, tokens)[:, None])
        return reading.state, last_logits(net, reading, batch)

    return step


def last_logits(net: Seq2SeqNetwork, reading: DecoderOutput, batch: Seq2SeqBatch) -> Float[Tensor, "N V"]:
    """What the last token that was read is followed by; with copying, log-probabilities."""
    reading = reading._replace(os=net.drop(reading.os)[:, -1:])
    return with_copies(net, reading, net.softmax.logits(reading.os[:, 0]), batch.copies, batch.unknown)


def with_copies(
    net: Seq2SeqNetwork,
    reading: DecoderOutput,
    logits: Float[Tensor, "N V"],
    copies: Int[Tensor, "B S"],
    unknown: int,
) -> Float[Tensor, "N W"]:
    """These logits; where words are copied, the log-probabilities of all words instead."""
    if net.pointer is None:
        return logits
    assert reading.weights is not None
    log_probs, copies = precise(logits).log_softmax(-1), copies[reading.state.row]
    o, weights = reading.os[:, -1], reading.weights[:, -1]
    return net.pointer.log_probabilities(o, weights, log_probs, copies, unknown)


def costs(
    net: Seq2SeqNetwork, reading: DecoderOutput, target: Int[Tensor, "N T"], copies: Int[Tensor, "N S"]
) -> Float[Tensor, "N T"]:
    """-log p of every target, given what the decoder says before it."""
    own = net.softmax.nll(reading.os, to_vocabulary(net, target))
    if net.pointer is None:
        return own
    assert reading.weights is not None
    return net.pointer.nll(reading.os, reading.weights, own, target, copies)


def tokens_before(net: Seq2SeqNetwork, target: Int[Tensor, "N T"]) -> Int[Tensor, "N T"]:
    """What the decoder has read when it writes each target."""
    return to_vocabulary(net, pad(target, (1, 0), value=BOS)[:, :-1])


def to_vocabulary(net: Seq2SeqNetwork, tokens: Tensor) -> Tensor:
    """What is beyond the vocabulary is read as unknown."""
    return tokens if net.pointer is None else tokens.where(tokens < net.pointer.vocabulary, UNK)


def precise(logits: Tensor) -> Tensor:
    return logits.to(torch.promote_types(logits.dtype, torch.float32))
