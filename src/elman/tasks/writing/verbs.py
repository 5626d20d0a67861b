"""What people do with a language model, as methods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from elman.decoding import Greedy
from elman.tasks.language.cache import Cache
from elman.tasks.language.cached import cached
from elman.tasks.language.dynamic import Dynamic
from elman.tasks.writing import completion, generation, scoring
from elman.tasks.writing.completion import Completion
from elman.tasks.writing.following import adapted
from elman.tasks.writing.generation import Generation, How, Sampling
from elman.tasks.writing.predictor import Predictor
from elman.tasks.writing.rules import Rules
from elman.tasks.writing.scoring import Score
from elman.tasks.writing.stream import Stream
from elman.tasks.writing.word_ends import LONGEST


class Verbs:
    """Scoring, writing, completing and streaming, for any class that is a `Predictor`.

    With a `cache` words said lately are likelier; with `dynamic` the weights follow what is scored, or the
    prompt that is continued, and are as before in the next call.
    """

    def score(
        self: Predictor, text: str, *, cache: Cache | None = None, dynamic: Dynamic | None = None
    ) -> Score:
        """The log-probability of a text and of its tokens, its end included; ``float`` of it is the sum."""
        return scoring.score(self, text, cache=cache, dynamic=dynamic)

    def scores(
        self: Predictor,
        texts: Sequence[str],
        *,
        cache: Cache | None = None,
        dynamic: Dynamic | None = None,
    ) -> list[Score]:
        """The same for many texts, each by itself."""
        return scoring.scores(self, texts, cache=cache, dynamic=dynamic)

    def generate(
        self: Predictor,
        prompt: str = "",
        how: How | None = None,
        *,
        n: int = 1,
        rules: Rules | None = None,
        cache: Cache | None = None,
        dynamic: Dynamic | None = None,
    ) -> list[Generation]:
        """``n`` texts that begin with the prompt: `Sampling` (unless said), `Greedy` or `Beam`."""
        room = (rules or Rules()).max_tokens
        lm = adapted(self, prompt, room, cache=cache, dynamic=dynamic)
        return generation.generate(lm, prompt, how, n=n, rules=rules)

    def write(
        self: Predictor,
        prompt: str = "",
        how: Sampling | Greedy | None = None,
        rules: Rules | None = None,
        *,
        cache: Cache | None = None,
        dynamic: Dynamic | None = None,
    ) -> Iterator[str]:
        """One continuation of the prompt, piece by piece as it comes."""
        room = (rules or Rules()).max_tokens
        lm = adapted(self, prompt, room, cache=cache, dynamic=dynamic)
        return generation.write(lm, prompt, how, rules)

    def complete(
        self: Predictor,
        text: str,
        k: int = 5,
        *,
        width: int = 64,
        cache: Cache | None = None,
        dynamic: Dynamic | None = None,
    ) -> list[Completion]:
        """The likeliest completions of the last word of a text, or of the next one after a blank."""
        lm = adapted(self, text, LONGEST, cache=cache, dynamic=dynamic)
        return completion.complete(lm, text, k, width=width)

    def stream(self: Predictor, *, cache: Cache | None = None) -> Stream:
        """A text that is read as it comes."""
        return Stream(cached(self, cache) if cache else self)
