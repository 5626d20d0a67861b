"""Reading text as it comes, in constant time and memory a token, whatever came before."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from elman.argument_checks import check_arguments
from elman.decoding import Policy
from elman.errors import ModelError
from elman.generation.cursor import Cursor, special_ids, start_cursor, writable_log_probs
from elman.generation.generation_config import Sampling
from elman.generation.incremental import Pending, encode_chunk, flush
from elman.generation.likeliest import likeliest
from elman.generation.partial_prefix import partial_prefix
from elman.generation.predictor import LMPredictor
from elman.generation.prefix_search import Continuation, next_tokens
from elman.generation.token_bytes import decode_partial, display_token, token_bytes
from elman.kernels.token_ranking import find_log_probability
from elman.ranges import PositiveInt
from elman.shapes import Float, Tensor
from elman.state import State, eval_mode, from_bytes, leaves, map_state, to_bytes
from elman.text.arguments import check_text

_CHUNK = 256  # tokens read at once, so that a long piece needs no more memory than a short one


class NextToken(NamedTuple):
    """What may follow: a token, or the rest of one whose beginning is pending."""

    text: str
    probability: float
    id: int


class Foresight(NamedTuple):
    """What a network computes when it reads the token of a cursor."""

    state: Any
    logits: Float[Tensor, "1 V"]  # of what follows


class TextStream:
    """A text that goes on. Its last token is pending as long as it may become another.

    A word tokenizer cannot know whether "upo" is a word; a blank says so. However a text is cut into pieces,
    the same tokens are read, and their probabilities are those of the whole text.
    """

    def __init__(self, lm: LMPredictor) -> None:
        self.lm = lm
        self.log_probability = 0.0  # of all that was read; what is pending does not count yet
        self.tokens = 0  # that were read
        self._cursor = start_cursor(lm)
        self._pending = Pending()
        self._foreseen: tuple[Cursor, Foresight] | None = None  # what `next` found, of which cursor

    def feed(self, text: str) -> None:
        r"""Read on; ``\n`` ends a line as in a corpus."""
        for number, line in enumerate(check_text(text, "feed").split("\n")):
            if number:
                self.end()
            ids, pending = encode_chunk(self.lm.tokenizer, self._pending, line)
            self._read(ids)
            self._pending = pending

    def end(self) -> None:
        """Read what is pending and the end of the line."""
        self._read([*flush(self.lm.tokenizer, self._pending), self.lm.end])

    @property
    def pending(self) -> str:
        """The end of what was fed, which may still become another token."""
        return self._pending.text

    @check_arguments
    def next(self, k: PositiveInt = 5) -> list[NextToken]:
        """The k likeliest continuations, among all that can be written.

        With text pending, each is the rest of a token that writes it; where a token may end just there,
        that is "" for words, and for subwords what comes after.
        """
        if not self._unread():
            best = likeliest(self._foresee().logits[0], special_ids(self.lm), k)
            return [NextToken(display_token(self.lm.tokenizer, i), p, i) for p, i in best]
        found: dict[str, NextToken] = {}
        for text, probability, ids in next_tokens(self.lm, self._cursor, self._pending):
            before = found.get(text, NextToken(text, 0.0, ids[-1]))
            found[text] = before._replace(probability=min(before.probability + probability, 1.0))
        return sorted(found.values(), key=lambda one: (-one.probability, one.id))[:k]

    @check_arguments
    def sample(self, policy: Policy | None = None) -> str:
        """Draw a continuation as in `next`, read it, and return its text; "" at the end of a line.

        Drawn unless the policy is another; of bytes, as many as make a character. What was drawn is certain:
        it does not become part of a longer token.
        """
        policy = policy or Sampling().policy()
        drawn = b""
        while True:
            choice = self._draw_pending(policy) if self._unread() else self._draw(policy)
            drawn += token_bytes(self.lm.tokenizer)[choice.ids[-1]]
            if self.lm.tokenizer.level != "byte" or choice.ids[-1] == self.lm.end:
                return choice.text
            text, whole = decode_partial(drawn)
            if whole:
                return text

    def _draw_pending(self, policy: Policy) -> Continuation:
        choices = next_tokens(self.lm, self._cursor, self._pending)
        weights = torch.tensor([[one.probability for one in choices]], dtype=torch.float64)
        choice = choices[int(policy(0, weights.log()))]
        self._read(choice.ids)
        return choice

    def _draw(self, policy: Policy) -> Continuation:
        with torch.no_grad():
            token = policy(0, writable_log_probs(self.lm, self._foresee().logits))
        i = int(token)
        chance = self._read_one(i)
        text = "" if i == self.lm.end else display_token(self.lm.tokenizer, i)
        return Continuation(text, math.exp(chance), [i])

    def to_bytes(self) -> bytes:
        """All of it, in some kilobytes; `from_bytes` goes on in another process."""
        text = self._pending.text.encode("utf-8", "surrogatepass")
        pending, read = torch.tensor(list(text), dtype=torch.uint8), torch.tensor([self._pending.read])
        sums = torch.tensor([self.log_probability, self.tokens], dtype=torch.float64)
        state, token = self._cursor
        return to_bytes(State(net=state, token=token, pending=pending, read=read, sums=sums))

    @classmethod
    @check_arguments
    def from_bytes(cls, lm: LMPredictor, data: bytes) -> TextStream:
        """The stream that `to_bytes` wrote, with the model that it was of."""
        stream, stored = cls(lm), from_bytes(data)
        fresh = stream._cursor
        if getattr(stored, "names", ()) != ("net", "token", "pending", "read", "sums"):
            raise ModelError("these bytes are not those of a stream")
        ours, theirs = ([(path, t.shape) for path, t in leaves(s)] for s in (fresh.state, stored.net))
        if ours != theirs:
            raise ModelError("these bytes are of a stream of another model")
        state = map_state(lambda new, old: old.to(new), fresh.state, stored.net)
        stream._cursor = Cursor(state, stored.token.to(fresh.token))
        text = bytes(stored.pending.tolist()).decode("utf-8", "surrogatepass")
        stream._pending = Pending(text, int(stored.read))
        stream.log_probability, stream.tokens = float(stored.sums[0]), int(stored.sums[1])
        return stream

    def _read(self, ids: Sequence[int]) -> None:
        """Read ids in the place of what is pending."""
        self._pending = Pending()
        if len(ids) == 1 or (ids and self._is_foreseen()):
            self._read_one(ids[0])
            ids = ids[1:]
        for first in range(0, len(ids), _CHUNK):
            some = torch.tensor([ids[first : first + _CHUNK]], device=self._cursor.token.device)
            inputs = torch.cat([self._cursor.token[None], some[:, :-1]], 1)
            with torch.no_grad(), eval_mode(self.lm.net) as net:
                state, hs = net.read(self._cursor.state, inputs)
                self.log_probability -= float(net.output.nll(hs, some).double().sum())
            self._cursor = Cursor(state, some[:, -1])
        self.tokens += len(ids)

    def _read_one(self, i: int) -> float:
        """Read an id; returns its log-probability. What `next` computed before is not computed again."""
        seen = self._foreseen[1] if self._foreseen and self._is_foreseen() else self._foresee()
        known = find_log_probability(seen.logits[0], i)
        chance = float(seen.logits.log_softmax(-1)[0, i]) if known is None else known
        self._cursor = Cursor(seen.state, torch.tensor([i], device=seen.logits.device))
        self.log_probability += chance
        self.tokens += 1
        return chance

    def _is_foreseen(self) -> bool:
        return self._foreseen is not None and self._foreseen[0] is self._cursor

    def _foresee(self) -> Foresight:
        """By the weights as they are now."""
        with torch.no_grad(), eval_mode(self.lm.net) as net:
            seen = Foresight(*net.step(*self._cursor))
        self._foreseen = self._cursor, seen
        return seen

    def _unread(self) -> bool:
        if not self._pending.text:
            return False
        return partial_prefix(self.lm.tokenizer, self._pending).next_ids(()) is not None
