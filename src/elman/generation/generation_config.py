"""How a text is written: how tokens are chosen, what they may not be, how many, and where they stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from elman.decoding import Beam, Constraint, Greedy, Sample, Stop
from elman.decoding.constraints import BannedTokens, MinLength, NoRepeatNgram
from elman.decoding.stopping import AnyOf, AtStrings, AtTokens, within
from elman.errors import ConfigError, check_option
from elman.generation.cursor import Prompt, decode_continuation, decode_passage, special_ids
from elman.generation.predictor import LMPredictor
from elman.generation.text_constraints import CompletesPrefix, ban_texts


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """Tokens drawn from the model after temperature, top-k, top-p and min-p, in this order.

    The same seed writes the same text, on every device; without one each call draws anew.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    seed: int | None = None

    def policy(self) -> Sample:
        """The policy with a generator of its own, begun at the seed."""
        generator = torch.Generator()
        if self.seed is None:
            generator.seed()
        else:
            generator.manual_seed(self.seed)
        filters = {name: getattr(self, name) for name in ("temperature", "top_k", "top_p", "min_p")}
        return Sample(generator=generator, **filters)


DecodingStrategy = Sampling | Greedy | Beam
"""How the next token is chosen: drawn, the likeliest, or what a beam search finds."""


@dataclass(frozen=True, kw_only=True)
class GenerationConfig:
    """Limits of a text that is written. Tokens that complete an unfinished word of the prompt count, too."""

    max_tokens: int | None = None  # the most; None: 100, of a passage 1,000
    min_tokens: int = 0  # the fewest before the text may end
    passage: bool = False  # write on over line ends, up to ``max_tokens``; otherwise a text ends with its line
    max_seconds: float | None = None  # stop at the first token after so long; None: no deadline
    no_repeat: int | None = None  # no n-gram of tokens twice; None: anything may repeat
    banned: tuple[str, ...] = ()  # of a model of words these words, of others these strings
    stop: tuple[str, ...] = ()  # the text ends before any of these strings

    def __post_init__(self) -> None:
        most = self.max_tokens
        check_option("max_tokens", most, most is None or most >= 1, "at least 1")
        for name in ("banned", "stop"):
            strings = getattr(self, name)
            check_option(name, repr(strings), not isinstance(strings, str), "a tuple of strings")
            if "" in strings:
                raise ConfigError(f"{name} has an empty string in it, which every text contains")
        if self.passage and self.min_tokens:
            raise ConfigError(
                "min_tokens is for a text that ends with its line; a passage has max_tokens alone"
            )

    @property
    def limit(self) -> int:
        """The most tokens."""
        return self.max_tokens or (1000 if self.passage else 100)

    def decode(self, lm: LMPredictor, prompt: Prompt, ids: Sequence[int]) -> str:
        """What ids add to the text of a prompt, up to the end of its line or over all lines."""
        return (decode_passage if self.passage else decode_continuation)(lm, prompt, ids)

    def stopping(self, lm: LMPredictor, prompt: Prompt) -> Stop:
        """Where a text is over; the clock of ``max_seconds`` runs from now."""
        stops: list[Stop] = [AtTokens(() if self.passage else (lm.end,))]
        if self.stop:
            stops.append(AtStrings(self.stop, lambda _, ids: self.decode(lm, prompt, ids)))
        if self.max_seconds is not None:
            stops.append(within(self.max_seconds))
        return AnyOf(tuple(stops)) if len(stops) > 1 else stops[0]

    def constraints(self, lm: LMPredictor, prompt: Prompt) -> list[Constraint]:
        """What may come next, the prompt's unfinished word first of all."""
        rules: list[Constraint] = [BannedTokens(tuple((i,) for i in special_ids(lm)))]
        if prompt.partial_prefix.next_ids(()) is not None:
            rules.append(CompletesPrefix(prompt.partial_prefix))
        if self.min_tokens:
            rules.append(MinLength(self.min_tokens, (lm.end,)))
        if self.no_repeat is not None:
            rules.append(NoRepeatNgram(self.no_repeat))
        if self.banned:
            rules.append(ban_texts(lm.tokenizer, self.banned))
        return rules
