"""Where a language model is in a text, in a prompt above all, and what may come next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from elman.generation.incremental import Pending, encode_chunk, flush
from elman.generation.partial_prefix import PartialPrefix, partial_prefix
from elman.generation.predictor import LMPredictor
from elman.shapes import Float, Int, Tensor
from elman.state import eval_mode, leaves
from elman.text.vocab import BOS, EOS, PAD, UNK

_PIECE = 2**12  # tokens of a long text that are read at once


class Cursor(NamedTuple):
    """How far a text was read: the state, and one token of each row that is yet to be read."""

    state: Any
    token: Int[Tensor, " B"]


def start_cursor(lm: LMPredictor) -> Cursor:
    """Before the first token of a text; one row."""
    state = lm.net.begin(1)
    _, some = next(leaves(state))
    return Cursor(state, torch.tensor([lm.end], device=some.device))


def advance(lm: LMPredictor, cursor: Cursor, ids: Sequence[int]) -> Cursor:
    """The cursor after these ids; one row."""
    read, state = torch.tensor([[*cursor.token.tolist(), *ids]], device=cursor.token.device), cursor.state
    with torch.no_grad(), eval_mode(lm.net) as net:
        for piece in torch.split(read[:, :-1], _PIECE, 1) if ids else ():
            state, _ = net.read(state, piece)
    return Cursor(state, read[:, -1])


def next_log_probs(lm: LMPredictor, cursor: Cursor) -> tuple[Any, Float[Tensor, "B V"]]:
    """The state after the token of the cursor, and log p of what follows it, as far as it can be written."""
    with torch.no_grad(), eval_mode(lm.net) as net:
        state, logits = net.step(*cursor)
        return state, writable_log_probs(lm, logits)


def writable_log_probs(lm: LMPredictor, logits: Float[Tensor, "B V"]) -> Float[Tensor, "B V"]:
    """Log-probabilities among what can be written: without special tokens they sum to one."""
    barred = torch.tensor(special_ids(lm), device=logits.device)
    return logits.index_fill(1, barred, float("-inf")).log_softmax(-1)


def special_ids(lm: LMPredictor) -> list[int]:
    """The ids that stand for no text: nothing written or completed has them."""
    end = lm.end
    return [i for i in (PAD, UNK, BOS, EOS) if i != end]


def encode_lines(lm: LMPredictor, text: str) -> list[int]:
    """The ids of a text as they stand in a corpus: after each line its end, after the last one too."""
    return [i for line in text.split("\n") for i in (*lm.tokenizer.encode(line), lm.end)]


class Prompt(NamedTuple):
    """To where a text was read, and what is typed beyond that."""

    text: str
    cursor: Cursor
    pending: Pending
    partial_prefix: PartialPrefix


def read_prompt(lm: LMPredictor, text: str) -> Prompt:
    """Read a text, but for its end where that may be part of a longer token."""
    ids, pending = encode_prompt(lm, text)
    cursor = advance(lm, start_cursor(lm), ids)
    return Prompt(text, cursor, pending, partial_prefix(lm.tokenizer, pending))


def prepare_prompt(lm: LMPredictor, text: str) -> Prompt:
    """A prompt that can be continued: a word that no known one begins with is read as it stands."""
    prompt = read_prompt(lm, text)
    if prompt.partial_prefix.next_ids(()) != []:
        return prompt
    cursor = advance(lm, prompt.cursor, flush(lm.tokenizer, prompt.pending))
    return Prompt(text, cursor, Pending(), partial_prefix(lm.tokenizer, Pending()))


def encode_prompt(lm: LMPredictor, text: str) -> tuple[list[int], Pending]:
    """The ids of a text that are certain, and its end that may be part of a longer token."""
    *lines, last = text.split("\n")
    before = encode_lines(lm, "\n".join(lines)) if lines else []
    ids, pending = encode_chunk(lm.tokenizer, Pending(), last)
    return [*before, *ids], pending


def decode_continuation(lm: LMPredictor, prompt: Prompt, ids: Sequence[int]) -> str:
    """What the ids add to the text of a prompt; nothing after their end."""
    ids, skipped = _split_lines(lm, ids)[0], {*special_ids(lm)} - {UNK}
    rest = prompt.partial_prefix.rest([i for i in ids if i not in skipped])
    apart = lm.tokenizer.level == "word" and not prompt.partial_prefix.most
    return f" {rest}" if apart and rest and prompt.text[-1:].strip() else rest


def decode_passage(lm: LMPredictor, prompt: Prompt, ids: Sequence[int]) -> str:
    """What the ids add to the text of a prompt over all lines: each end among them begins another."""
    first, *others = _split_lines(lm, ids)
    fresh = partial_prefix(lm.tokenizer, Pending())
    return "\n".join([decode_continuation(lm, prompt, first), *map(fresh.rest, others)])


def _split_lines(lm: LMPredictor, ids: Sequence[int]) -> list[list[int]]:
    lines, end = [list[int]()], lm.end
    for i in ids:
        if i == end:
            lines.append([])
        else:
            lines[-1].append(i)
    return lines


def truncate_at_stop(text: str, stops: Sequence[str]) -> str:
    """The text up to the first stop string in it."""
    return text[: min((text.index(stop) for stop in stops if stop in text), default=len(text))]


def hold_back(text: str, stops: Sequence[str]) -> str:
    """The text without an end that may be the beginning of a stop string, or of a character."""
    text = text.rstrip("\ufffd")
    longest = min(len(text), max(map(len, stops), default=0))
    begun = (n for n in range(longest, 0, -1) if any(s.startswith(text[-n:]) for s in stops))
    return text[: len(text) - next(begun, 0)]
