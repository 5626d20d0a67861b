"""What a target costs, and the loss of teacher forcing: the decoder reads what it should have written."""

from __future__ import annotations

import torch
from torch.nn.functional import pad

from elman.decoding import Step
from elman.layers.cross_entropy import weighted_mean
from elman.layers.decoder import Reading
from elman.shapes import Float, Int, Tensor
from elman.state import State
from elman.tasks.translation.model import Model
from elman.tasks.translation.network import Network
from elman.tasks.translation.writing import Batch
from elman.text.vocab import BOS, UNK


def forced(net: Network, batch: Batch) -> Reading:
    """What the decoder says after each of the right tokens, all steps at once where it can."""
    session, state = net.decoder.open(net.encode(batch.source, batch.mask))
    before = pad(batch.target, (1, 0), value=BOS)[:, :-1]
    return net.read(session, state, readable(net, before))


def nats(net: Network, batch: Batch) -> Float[Tensor, "B T"]:
    """-log p of every target."""
    return costs(net, forced(net, batch), batch.target, batch.copies)


def loss(net: Network, model: Model, batch: Batch) -> Float[Tensor, ""]:
    """Mean over tokens of -log p(y_i | y_{<i}, x), smoothed; with ``coverage``, more for a second look.

    Coverage costs λ Σ_j min(α_ij, Σ_{k<i} α_kj) a token (See et al. 2017).
    """
    reading = forced(net, batch)
    reading = reading._replace(os=net.drop(reading.os))
    mask = batch.target_mask
    if net.pointer is None:
        total = net.softmax.loss(reading.os, batch.target, mask)
    else:
        total = weighted_mean(costs(net, reading, batch.target, batch.copies), mask)
    if model.coverage and reading.weights is not None:
        total = total + model.coverage * weighted_mean(_twice(reading.weights), mask)
    return total


def stepping(net: Network, batch: Batch) -> tuple[Step[State], State]:
    """The step of a decoder before these sources, and the state before it has written."""
    session, first = net.decoder.open(net.encode(batch.source, batch.mask))

    def step(state: State, tokens: Int[Tensor, " N"]) -> tuple[State, Float[Tensor, "N V"]]:
        reading = net.read(session, state, readable(net, tokens)[:, None])
        return reading.state, last_logits(net, reading, batch)

    return step, first


def last_logits(net: Network, reading: Reading, batch: Batch) -> Float[Tensor, "N V"]:
    """What the last token that was read is followed by; with copying, log-probabilities."""
    reading = reading._replace(os=net.drop(reading.os)[:, -1:])
    return with_copies(net, reading, net.softmax.logits(reading.os[:, 0]), batch)


def with_copies(
    net: Network, reading: Reading, logits: Float[Tensor, "N V"], batch: Batch
) -> Float[Tensor, "N W"]:
    """These logits; where words are copied, the log-probabilities of all words instead."""
    if net.pointer is None:
        return logits
    assert reading.weights is not None
    log_probs, copies = precise(logits).log_softmax(-1), batch.copies[reading.state.row]
    both: Tensor = net.pointer.log_probabilities(
        reading.os[:, -1], reading.weights[:, -1], log_probs, copies, batch.unknown
    )
    return both


def costs(
    net: Network, reading: Reading, target: Int[Tensor, "N T"], copies: Int[Tensor, "N S"]
) -> Float[Tensor, "N T"]:
    """-log p of every target, given what the decoder says before it."""
    own = net.softmax.nats(reading.os, readable(net, target))
    if net.pointer is None:
        return own
    assert reading.weights is not None
    both: Tensor = net.pointer.nats(reading.os, reading.weights, own, target, copies)
    return both


def readable(net: Network, tokens: Tensor) -> Tensor:
    """What is beyond the vocabulary is read as unknown."""
    return tokens if net.pointer is None else tokens.where(tokens < net.pointer.vocabulary, UNK)


def _twice(weights: Float[Tensor, "B T S"]) -> Float[Tensor, "B T"]:
    before = weights.cumsum(1) - weights
    return torch.minimum(weights, before).sum(-1)


def precise(logits: Tensor) -> Tensor:
    return logits.to(torch.promote_types(logits.dtype, torch.float32))
