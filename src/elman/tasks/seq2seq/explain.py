"""How a sequence-to-sequence model reads and writes: where it looks, what each token rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from elman.cells import RecordedCell, record_stack
from elman.errors import ConfigError
from elman.generation.token_bytes import display_token, display_tokens
from elman.layers.encoder import RecurrentEncoder
from elman.shapes import Float, Tensor
from elman.tasks.results import (
    Alignment,
    DecoderPass,
    LayerPass,
    Question,
    Surprisal,
    TextTrace,
    best_two,
    word_index,
)
from elman.tasks.seq2seq.config import ATTENDING
from elman.tasks.seq2seq.data import EncodedPair, Seq2SeqExample
from elman.tasks.seq2seq.loss import teacher_forced, tokens_before
from elman.tasks.seq2seq.network import Seq2SeqNetwork
from elman.tasks.seq2seq.search import Seq2SeqBatch
from elman.text.vocab import BOS, EOS, SPECIALS, UNK

if TYPE_CHECKING:
    from elman.tasks.seq2seq.task import Seq2Seq


def trace(task: Seq2Seq, text: str, word: int | None) -> TextTrace:
    """Every token of its answer, or one, is explained against the likeliest other at its place."""
    net, answer = task.net, task.translations([text])[0][0].tokens
    row = row_of(task, text, answer)
    batch, target = task.collate([row]), row.target
    source, written = source_tokens(task, text), [display_target(task, row, i) for i in target]
    places = [*range(len(target))] if word is None else [word_index(word, len(target), "answer")]
    place = torch.arange(len(target))
    with torch.no_grad():
        before = net.target(tokens_before(net, batch.target))
        log_probs = _log_probs(net, batch, before)
        nats = -log_probs[place, target]
        _, others = best_two(log_probs.scatter(1, batch.target[0, :, None], torch.inf))
        xs = net.reads(batch.source)

    def margins() -> Tensor:
        log_probs = _log_probs(net, batch, before)
        return (log_probs[place, target] - log_probs[place, others])[places]

    questions = [
        Question(f"token {i + 1}", written[i], display_target(task, row, int(others[i]))) for i in places
    ]
    blank, reader = " " if task.tokenizers.source.level == "word" else "", net.reader
    layers = reader.layers if isinstance(reader, RecurrentEncoder) else None
    passes = [] if layers is None else [LayerPass("encoder", source, layers, xs)]
    looked = align([task], text, answer) if task.config.decoder in ATTENDING else None
    return TextTrace(
        source,
        blank,
        passes,
        net.reads,
        margins,
        questions,
        surprisal=Surprisal(written, nats.tolist()),
        alignment=looked,
        decoder=DecoderPass([SPECIALS[BOS], *written[:-1]], _write_recorded(net, batch, before)),
    )


@torch.no_grad()
def _write_recorded(
    net: Seq2SeqNetwork, batch: Seq2SeqBatch, before: Float[Tensor, "1 T D"]
) -> list[RecordedCell]:
    """The cells of the decoder after they read the answer, token by token."""
    context, state = net.decoder.begin(net.encode(batch.source, batch.mask))
    each = [record_stack(stack) for stack in context.stacks]
    net.decoder.unroll(context._replace(stacks=tuple(stack for stack, _ in each)), state, before)
    return [cell for _, cells in each for cell in cells]


@torch.no_grad()
def align(tasks: Sequence[Seq2Seq], text: str, answer: Sequence[str]) -> Alignment:
    """Where models looked, on average, when they wrote an answer, given as its tokens.

    It is not cut into tokens anew, which could give others: <unk> is one token when it is written.
    """
    first, row = tasks[0], row_of(tasks[0], text, answer)
    looked = []
    for task in tasks:
        for net in task.net.members:
            weights = teacher_forced(net, task.collate([row])).weights
            if weights is None:
                raise ConfigError(f"there is no attention to show: decoder is {task.config.decoder!r}")
            looked.append(weights[0].float().cpu())
    written = [display_target(first, row, i) for i in row.target]
    return Alignment(source_tokens(first, text), written, torch.stack(looked).mean(0))


def row_of(task: Seq2Seq, text: str, answer: Sequence[str]) -> EncodedPair:
    """A text and its answer as numbers; a word of neither vocabulary nor source is unknown."""
    (row,) = task.encode([Seq2SeqExample(text, ("",))]).rows
    ids = {item: i for i, item in enumerate((*task.tokenizers.target.items, *row.unknown))}
    return row._replace(target=[*(ids.get(token, UNK) for token in answer), EOS])


def _log_probs(
    net: Seq2SeqNetwork, batch: Seq2SeqBatch, before: Float[Tensor, "1 T D"]
) -> Float[Tensor, "T W"]:
    """log p of all tokens at each place of the answer; the embedding of the source is run once."""
    session, state = net.decoder.begin(net.encode(batch.source, batch.mask))
    _, (os,), weights = net.decoder.unroll(session, state, before)
    log_probs: Tensor = net.softmax.logits(os).log_softmax(-1)
    if net.pointer is None:
        return log_probs
    assert weights is not None
    copies = batch.copies.expand(len(os), -1)
    return net.pointer.log_probabilities(os, weights[0], log_probs, copies, batch.unknown)


def source_tokens(task: Seq2Seq, text: str) -> list[str]:
    return [_bare(token) for token in display_tokens(task.tokenizers.source, text, EOS)[:-1]]


def display_target(task: Seq2Seq, row: EncodedPair, i: int) -> str:
    """A token that was or could be written, for people."""
    tokenizer, beyond = task.tokenizers.target, i - len(task.tokenizers.target.items)
    return row.unknown[beyond] if beyond >= 0 else _bare(display_token(tokenizer, i))


def _bare(token: str) -> str:
    """Without the blank that begins a word, unless it is all there is."""
    return token.strip() or token
