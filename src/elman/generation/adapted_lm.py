"""A language model that adapts to a text before it writes or completes: by a cache, by its weights, or both.

Dynamic evaluation follows what is given and nothing else: the weights change before the first token is
written and stay as they are then, in a beam as in sampling. A model that learns from its own samples would
only become surer of them, and the hypotheses of a beam would each need weights of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from elman.generation.cache import Cache, CachedNetwork, with_cache
from elman.generation.cursor import advance, encode_prompt, start_cursor
from elman.generation.dynamic_eval import Adaptation, DynamicEval
from elman.generation.predictor import LMNetwork, LMPredictor, NetworkWrapper, WrappedLM
from elman.state import repeat


@dataclass(frozen=True)
class AdaptationConfig:
    """The options of each way to adapt, as ``--set cache.window=3800`` has them."""

    cache: Cache = field(default_factory=Cache)
    dynamic: DynamicEval = field(default_factory=DynamicEval)


def adapt(
    lm: LMPredictor, text: str, room: int, *, cache: Cache | None = None, dynamic: DynamicEval | None = None
) -> LMPredictor:
    """The model for a text to be continued by up to ``room`` tokens, its weights as the text leaves them."""
    if not cache and not dynamic:
        return lm
    ids, pending = encode_prompt(lm, text)
    if cache:  # what can never be filled would only be copied from hypothesis to hypothesis
        most = len(ids) + len(pending.text.encode("utf-8", "replace")) + room
        cache = replace(cache, window=min(cache.window, most))
    adapted = AdaptedLM(lm, cache=cache, dynamic=dynamic)
    adapted.learn(ids)
    return adapted


class AdaptedLM:
    """A `LMPredictor` whose texts come after the lines that it has read, and which adapted to them."""

    def __init__(
        self, lm: LMPredictor, *, cache: Cache | None = None, dynamic: DynamicEval | None = None
    ) -> None:
        self.tokenizer, self.end = lm.tokenizer, lm.end
        self.adaptation = Adaptation(lm.net, dynamic) if dynamic else None
        if self.adaptation:
            lm = WrappedLM(lm.tokenizer, self.adaptation.net, lm.end)
        self.net = ContinuedNetwork(with_cache(lm, cache).net if cache else lm.net)

    def learn(self, ids: Sequence[int]) -> None:
        """Let the weights follow some tokens, where they are to."""
        if self.adaptation:
            start = self.net.start
            inner = start.inner if isinstance(self.net.net, CachedNetwork) else start
            self.adaptation.follow(ids, self.end, inner)

    def read(self, line: str) -> None:
        """Go on after a line: learn from it, then read it."""
        ids = [*self.tokenizer.encode(line), self.end]
        self.learn(ids)
        self.net.start = advance(self, start_cursor(self), ids).state  # the end is yet to be read


class ContinuedNetwork(NetworkWrapper):
    """A network that begins where lines have ended, with a state of one row."""

    def __init__(self, net: LMNetwork) -> None:
        super().__init__(net)
        self.start: Any = net.begin(1)
        self.output, self.read, self.step = net.output, net.read, net.step

    def begin(self, rows: int) -> Any:
        return repeat(self.start, rows)
