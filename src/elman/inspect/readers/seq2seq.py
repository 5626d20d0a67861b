"""How a sequence-to-sequence model reads and writes: gates, where it looks, what each token rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch.nn.functional import pad

from elman.errors import ConfigError
from elman.inspect.layer_gates import LayerGates, layer_gates
from elman.inspect.readers.place import place_of
from elman.inspect.reading import Reading, Surprise
from elman.inspect.saliency import Saliency, attributed, best_two
from elman.layers.encoder import RecurrentEncoder
from elman.layers.rnn import RNN, Layers
from elman.shapes import Float, Int, Tensor
from elman.tasks.seq2seq import Alignment, Example, Seq2Seq
from elman.tasks.translation.data import Row
from elman.tasks.translation.likelihood import forced
from elman.tasks.translation.model import ATTENDING
from elman.tasks.translation.network import Network
from elman.tasks.translation.writing import Batch
from elman.tasks.writing.spelled import in_words, readable, shown
from elman.text.vocab import BOS, EOS, UNK


def read(model: Seq2Seq, text: str, word: int | None) -> Reading:
    """Every token of its answer, or one, is explained against the likeliest other at its place."""
    net, answer = model.net, model.translations([text])[0][0].tokens
    row = _row(model, text, answer)
    batch, target = model.batch([row]), row.target
    source, written = _source(model, text), [_named(model, row, i) for i in target]
    places = [*range(len(target))] if word is None else [place_of(word, len(target), "answer")]
    place = torch.arange(len(target))
    with torch.no_grad():
        before = net.target(_before(batch.target, len(model.sides.target.items)))
        log_probs = _log_probs(net, batch, before)
        nats = -log_probs[place, target]
        _, others = best_two(log_probs.scatter(1, batch.target[0, :, None], torch.inf))

    def margins() -> Tensor:
        log_probs = _log_probs(net, batch, before)
        return (log_probs[place, target] - log_probs[place, others])[places]

    shares = attributed(net.reads, margins)[:, : len(source)]  # a transducer reads beyond its end
    saliency = [
        Saliency(f"token {i + 1}", written[i], _named(model, row, int(others[i])), share)
        for i, share in zip(places, shares, strict=True)
    ]
    return Reading(
        source,
        " " if in_words(model.sides.source) else "",
        _gates(net, batch.source),
        saliency,
        surprise=Surprise(written, nats.tolist()),
        alignment=align([model], text, answer) if model.model.context in ATTENDING else None,
    )


@torch.no_grad()
def align(models: Sequence[Seq2Seq], text: str, answer: Sequence[str]) -> Alignment:
    """Where models looked, on average, when they wrote an answer, given as its tokens.

    It is not cut into tokens anew, which could give others: <unk> is one token when it is written.
    """
    first, row = models[0], _row(models[0], text, answer)
    looked = []
    for model in models:
        weights = forced(model.net, model.batch([row])).weights
        if weights is None:
            raise ConfigError(f"there is no attention to show: context is {model.model.context!r}")
        looked.append(weights[0].float().cpu())
    written = [_named(first, row, i) for i in row.target]
    return Alignment(_source(first, text), written, torch.stack(looked).mean(0))


def _row(model: Seq2Seq, text: str, answer: Sequence[str]) -> Row:
    """A text and its answer as numbers; a word of neither vocabulary nor source is unknown."""
    (row,) = model.encode([Example(text, ("",))]).rows
    ids = {item: i for i, item in enumerate((*model.sides.target.items, *row.unknown))}
    return row._replace(target=[*(ids.get(token, UNK) for token in answer), EOS])


def _before(target: Int[Tensor, "1 T"], size: int) -> Int[Tensor, "1 T"]:
    """What is read before each token is written; what is beyond the vocabulary is unknown."""
    ids = pad(target, (1, 0), value=BOS)[:, :-1]
    return ids.where(ids < size, UNK)


def _log_probs(net: Network, batch: Batch, before: Float[Tensor, "1 T D"]) -> Float[Tensor, "T W"]:
    """log p of all tokens at each place of the answer; the embedding of the source is run once."""
    session, state = net.decoder.open(net.encode(batch.source, batch.mask))
    _, (os,), weights = net.decoder.read(session, state, before)
    log_probs: Tensor = net.softmax.logits(os).log_softmax(-1)
    if net.pointer is None:
        return log_probs
    assert weights is not None
    copies = batch.copies.expand(len(os), -1)
    return net.pointer.log_probabilities(os, weights[0], log_probs, copies, batch.unknown)


def _gates(net: Network, ids: Int[Tensor, "1 S"]) -> list[LayerGates]:
    """Those of the encoder, where it is recurrent; a single network's are also its decoder's."""
    if not hasattr(net, "encoder"):
        layers = Layers([RNN(cell) for cell in cast(Any, net.decoder.cells)])
    elif isinstance(net.encoder, RecurrentEncoder):
        layers = net.encoder.layers
    else:
        return []
    with torch.no_grad():
        return layer_gates(layers, net.reads(ids))


def _source(model: Seq2Seq, text: str) -> list[str]:
    return [_bare(token) for token in shown(model.sides.source, text, EOS)[:-1]]


def _named(model: Seq2Seq, row: Row, i: int) -> str:
    """A token that was or could be written, for people."""
    codec = model.sides.target
    known = len(codec.items)
    return _bare(readable(codec, i)) if i < known else row.unknown[i - known]


def _bare(token: str) -> str:
    """Without the blank that begins a word, unless it is all there is."""
    return token.strip() or token
