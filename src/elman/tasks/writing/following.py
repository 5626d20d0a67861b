"""A language model that adapts to a text before it writes or completes: by a cache, by its weights, or both.

Dynamic evaluation follows what is given and nothing else: the weights change before the first token is
written and stay as they are then, in a beam as in sampling. A model that learns from its own samples would
only become surer of them, and the hypotheses of a beam would each need weights of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from torch import nn

from elman.layers.softmax import Output
from elman.shapes import Tensor
from elman.state import repeat
from elman.tasks.language.cache import Cache
from elman.tasks.language.cached import CachedNetwork, cached
from elman.tasks.language.dynamic import Adaptation, Dynamic
from elman.tasks.writing.predictor import Around, Predictor, Reader, beginning, onward
from elman.tasks.writing.prompt import settled


def adapted(
    lm: Predictor,
    text: str,
    room: int,
    *,
    cache: Cache | None = None,
    dynamic: Dynamic | None = None,
) -> Predictor:
    """The model for a text to be continued by up to ``room`` tokens, its weights as the text leaves them."""
    if not cache and not dynamic:
        return lm
    ids, pending = settled(lm, text)
    if cache:  # what can never be filled would only be copied from hypothesis to hypothesis
        most = len(ids) + len(pending.text.encode("utf-8", "replace")) + room
        cache = replace(cache, window=min(cache.window, most))
    following = Following(lm, cache=cache, dynamic=dynamic)
    following.learn(ids)
    return following


class Following:
    """A `Predictor` whose texts come after the lines that it has read, and which adapted to them."""

    def __init__(
        self, lm: Predictor, *, cache: Cache | None = None, dynamic: Dynamic | None = None
    ) -> None:
        self.codec, self.end = lm.codec, lm.end
        self.adaptation = Adaptation(lm.net, dynamic) if dynamic else None
        if self.adaptation:
            lm = Around(lm.codec, self.adaptation.net, lm.end)
        self.net = After(cached(lm, cache).net if cache else lm.net)

    def learn(self, ids: Sequence[int]) -> None:
        """Let the weights follow some tokens, where they are to."""
        if self.adaptation:
            start = self.net.start
            inner = start.inner if isinstance(self.net.net, CachedNetwork) else start
            self.adaptation.follow(ids, self.end, inner)

    def read(self, line: str) -> None:
        """Go on after a line: learn from it, then read it."""
        ids = [*self.codec.encode(line), self.end]
        self.learn(ids)
        self.net.start = onward(self, beginning(self), ids).state  # the end is yet to be read


class After(nn.Module):
    """A network that begins where lines have ended, with a state of one row."""

    def __init__(self, net: Reader) -> None:
        super().__init__()
        self.net = net
        self.start: Any = net.begin(1)
        self.train(net.training)

    @property
    def output(self) -> Output:
        return self.net.output

    def begin(self, rows: int) -> Any:
        return repeat(self.start, rows)

    def read(self, state: Any, ids: Tensor, mask: Tensor | None = None) -> tuple[Any, Tensor]:
        return self.net.read(state, ids, mask)

    def step(self, state: Any, tokens: Tensor) -> tuple[Any, Tensor]:
        return self.net.step(state, tokens)
