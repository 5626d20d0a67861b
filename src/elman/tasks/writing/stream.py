"""Reading text as it comes, in constant time and memory a token, whatever came before."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch

from elman.decoding import Policy
from elman.decoding.order import best
from elman.errors import ConfigError, ModelError
from elman.shapes import Float, Tensor
from elman.state import State, from_bytes, leaves, map_state, to_bytes
from elman.tasks.writing.choices import Choice, pending_choices
from elman.tasks.writing.pieces import Pending, finish, settle
from elman.tasks.writing.predictor import Place, Predictor, beginning, reading, writable_log_probs
from elman.tasks.writing.sampling import Sampling
from elman.tasks.writing.spelled import decoded, kind, readable, spelled
from elman.tasks.writing.typed import typed

_CHUNK = 256  # tokens read at once, so that a long piece needs no more memory than a short one


class Next(NamedTuple):
    """What may follow: a token, or the rest of one whose beginning is pending."""

    text: str
    probability: float
    id: int


class Stream:
    """A text that goes on. Its last token is pending as long as it may become another.

    A word tokenizer cannot know whether "upo" is a word; a blank says so. However a text is cut into pieces,
    the same tokens are read, and their probabilities are those of the whole text.
    """

    def __init__(self, lm: Predictor) -> None:
        self.lm = lm
        self.log_probability = 0.0  # of all that was read; what is pending does not count yet
        self.tokens = 0  # that were read
        self._place = beginning(lm)
        self._pending = Pending()

    def feed(self, text: str) -> None:
        r"""Read on; ``\n`` ends a line as in a corpus."""
        first, *lines = text.split("\n")
        self._settle(first)
        for line in lines:
            self.end()
            self._settle(line)

    def end(self) -> None:
        """Read what is pending and the end of the line."""
        self._read([*finish(self.lm.codec, self._pending), self.lm.end])

    @property
    def pending(self) -> str:
        """The end of what was fed, which may still become another token."""
        return self._pending.text

    def next(self, k: int = 5) -> list[Next]:
        """The k likeliest continuations, among all that can be written.

        With text pending, each is the rest of a token that writes it; where a token may end just there,
        that is "" for words, and for subwords what comes after.
        """
        if k < 1:
            raise ConfigError(f"k is {k}; it must be at least 1")
        if not self._unread():
            values, ids = (row[0].tolist() for row in best(self._log_probs().exp(), k))
            pairs = zip(values, ids, strict=True)
            return [Next(readable(self.lm.codec, i), p, i) for p, i in pairs if p > 0]
        found: dict[str, Next] = {}
        for text, probability, ids in self._choices():
            before = found.get(text, Next(text, 0.0, ids[-1]))
            found[text] = before._replace(probability=before.probability + probability)
        return sorted(found.values(), key=lambda one: (-one.probability, one.id))[:k]

    def sample(self, policy: Policy | None = None) -> str:
        """Draw a continuation as in `next`, read it, and return its text; "" at the end of a line.

        Drawn unless the policy is another; of bytes, as many as make a character. What was drawn is certain:
        it does not become part of a longer token.
        """
        policy = policy or Sampling().policy()
        drawn = b""
        while True:
            choice = self._draw_pending(policy) if self._unread() else self._draw(policy)
            drawn += spelled(self.lm.codec)[choice.ids[-1]]
            if kind(self.lm.codec) != "bytes" or choice.ids[-1] == self.lm.end:
                return choice.text
            text, whole = decoded(drawn)
            if whole:
                return text

    def _draw_pending(self, policy: Policy) -> Choice:
        choices = self._choices()
        weights = torch.tensor([[one.probability for one in choices]], dtype=torch.float64)
        choice = choices[int(policy(0, weights.log()))]
        self._read(choice.ids)
        return choice

    def _draw(self, policy: Policy) -> Choice:
        with reading(self.lm) as net:
            state, logits = net.step(*self._place)
            token = policy(0, writable_log_probs(self.lm, logits))
            chance = float(logits.log_softmax(-1)[0, token])
        self._place = Place(state, token)
        self.log_probability += chance
        self.tokens += 1
        i = int(token)
        return Choice("" if i == self.lm.end else readable(self.lm.codec, i), math.exp(chance), [i])

    def to_bytes(self) -> bytes:
        """All of it, in some kilobytes; `from_bytes` goes on in another process."""
        text = self._pending.text.encode("utf-8", "surrogatepass")
        sums = torch.tensor([self.log_probability, self.tokens], dtype=torch.float64)
        return to_bytes(
            State(
                net=self._place.state,
                token=self._place.token,
                pending=torch.tensor(list(text), dtype=torch.uint8),
                read=torch.tensor([self._pending.read]),
                sums=sums,
            )
        )

    @classmethod
    def from_bytes(cls, lm: Predictor, data: bytes) -> Stream:
        """The stream that `to_bytes` wrote, with the model that it was of."""
        stream, stored = cls(lm), from_bytes(data)
        fresh = stream._place
        names = getattr(stored, "names", ())
        if names != ("net", "token", "pending", "read", "sums"):
            raise ModelError("these bytes are not those of a stream")
        if _shapes(stored.net) != _shapes(fresh.state):
            raise ModelError("these bytes are of a stream of another model")
        state = map_state(lambda new, old: old.to(new), fresh.state, stored.net)
        stream._place = Place(state, stored.token.to(fresh.token))
        text = bytes(stored.pending.tolist()).decode("utf-8", "surrogatepass")
        stream._pending = Pending(text, int(stored.read))
        stream.log_probability, stream.tokens = float(stored.sums[0]), int(stored.sums[1])
        return stream

    def _settle(self, piece: str) -> None:
        ids, pending = settle(self.lm.codec, self._pending, piece)
        self._read(ids)
        self._pending = pending

    def _read(self, ids: Sequence[int]) -> None:
        """Read ids in the place of what is pending."""
        self._pending = Pending()
        for first in range(0, len(ids), _CHUNK):
            some = torch.tensor([ids[first : first + _CHUNK]], device=self._place.token.device)
            inputs = torch.cat([self._place.token[None], some[:, :-1]], 1)
            with reading(self.lm) as net:
                state, hs = net.read(self._place.state, inputs)
                self.log_probability -= float(net.output.nats(hs, some).double().sum())
            self._place = Place(state, some[:, -1])
        self.tokens += len(ids)

    def _unread(self) -> bool:
        return typed(self.lm.codec, self._pending).allowed(()) is not None

    def _choices(self) -> list[Choice]:
        return pending_choices(self.lm, self._place, self._pending)

    def _log_probs(self) -> Float[Tensor, "1 V"]:
        with reading(self.lm) as net:
            _, logits = net.step(*self._place)
            return writable_log_probs(self.lm, logits)


def _shapes(state: object) -> list[tuple[str, torch.Size]]:
    return [(path, tensor.shape) for path, tensor in leaves(state)]
