"""What people do with a language model, as methods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from elman.decoding import Greedy
from elman.tasks.writing import completion, generation, scoring
from elman.tasks.writing.completion import Completion
from elman.tasks.writing.generation import Generation, How, Sampling
from elman.tasks.writing.predictor import Predictor
from elman.tasks.writing.rules import Rules
from elman.tasks.writing.scoring import Score
from elman.tasks.writing.stream import Stream


class Verbs:
    """Scoring, writing, completing and streaming, for any class that is a `Predictor`."""

    def score(self: Predictor, text: str) -> Score:
        """The log-probability of a text and of its tokens, its end included; ``float`` of it is the sum."""
        return scoring.score(self, text)

    def scores(self: Predictor, texts: Sequence[str]) -> list[Score]:
        """The same for many texts, each by itself."""
        return scoring.scores(self, texts)

    def generate(
        self: Predictor,
        prompt: str = "",
        how: How | None = None,
        *,
        n: int = 1,
        rules: Rules | None = None,
    ) -> list[Generation]:
        """``n`` texts that begin with the prompt: `Sampling` (unless said), `Greedy` or `Beam`."""
        return generation.generate(self, prompt, how, n=n, rules=rules)

    def write(
        self: Predictor,
        prompt: str = "",
        how: Sampling | Greedy | None = None,
        rules: Rules | None = None,
    ) -> Iterator[str]:
        """One continuation of the prompt, piece by piece as it comes."""
        return generation.write(self, prompt, how, rules)

    def complete(self: Predictor, text: str, k: int = 5, *, width: int = 64) -> list[Completion]:
        """The likeliest completions of the last word of a text, or of the next one after a blank."""
        return completion.complete(self, text, k, width=width)

    def stream(self: Predictor) -> Stream:
        """A text that is read as it comes."""
        return Stream(self)
