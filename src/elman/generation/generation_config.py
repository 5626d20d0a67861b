"""How a text is written: how tokens are chosen, what they may not be, how many, and where they stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from elman.decoding import Beam, Constraint, Greedy, RepetitionPenalty, Sample, Stop
from elman.decoding.constraints import BannedTokens, MinLength, NoRepeatNgram
from elman.decoding.stopping import AnyOf, AtStrings, AtTokens, check_strings, within
from elman.errors import ConfigError, check_option
from elman.generation.cursor import Prompt, decode_continuation, decode_passage, encode_prompt, special_ids
from elman.generation.predictor import LMPredictor
from elman.generation.text_constraints import CompletesPrefix, ban_texts
from elman.ranges import NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, Seed, Share, check_ranges

FILTERS = ("temperature", "top_k", "top_p", "min_p", "min_tokens_to_keep")


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """Tokens drawn from the model after temperature, top-k, top-p and min-p, in this order.

    The same seed writes the same text, on every device; without one each call draws anew. Of several texts
    each has random numbers of its own: the first are the same however many follow.
    """

    temperature: PositiveFloat = 1.0
    top_k: PositiveInt | None = None
    top_p: Share | None = None
    min_p: Share | None = None
    min_tokens_to_keep: PositiveInt = 1  # so many of the likeliest each filter leaves in any case
    seed: Seed | None = None

    def __post_init__(self) -> None:
        check_ranges(self)

    def policy(self, rows: int = 1) -> Sample:
        """The policy for so many texts; the generator of the first begins at the seed."""
        first = torch.Generator()
        seed = first.seed() if self.seed is None else first.manual_seed(self.seed).initial_seed()
        generators = [first, *(_generator_of(seed, row) for row in range(1, rows))]
        return Sample(generator=generators, **{name: getattr(self, name) for name in FILTERS})


def _generator_of(seed: int, row: int) -> torch.Generator:
    """A generator that has nothing to do with those of other rows and seeds."""
    mixed = np.random.SeedSequence((seed, row)).generate_state(1, np.uint64)
    return torch.Generator().manual_seed(int(mixed[0]))


DecodingStrategy = Sampling | Greedy | Beam
"""How the next token is chosen: drawn, the likeliest, or what a beam search finds."""


@dataclass(frozen=True, kw_only=True)
class GenerationConfig:
    """Limits of a text that is written. Tokens that complete an unfinished word of the prompt count, too."""

    max_tokens: PositiveInt | None = None  # the most; None: 100, of a passage 1,000
    min_tokens: NonNegativeInt = 0  # the fewest before the text may end
    passage: bool = False  # write on over line ends, up to ``max_tokens``; otherwise a text ends with its line
    max_seconds: NonNegativeFloat | None = None  # stop at the first token after so long; None: no deadline
    no_repeat: PositiveInt | None = None  # no n-gram of tokens twice; None: anything may repeat
    repetition_penalty: PositiveFloat = 1.0  # above 1, tokens of prompt and text are less likely to come again
    banned: tuple[str, ...] = ()  # of a model of words these words, of others these strings
    stop: tuple[str, ...] = ()  # the text ends before any of these strings

    def __post_init__(self) -> None:
        check_ranges(self)
        check_option(
            "min_tokens", self.min_tokens, self.min_tokens <= self.limit, f"at most {self.limit}, max_tokens"
        )
        check_strings("banned", self.banned)
        check_strings("stop", self.stop)
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
        if self.repetition_penalty != 1:
            read = sorted(set(encode_prompt(lm, prompt.text)[0]))
            rules.append(RepetitionPenalty(self.repetition_penalty, tuple(read)))
        if self.min_tokens:
            rules.append(MinLength(self.min_tokens, (lm.end,)))
        if self.no_repeat is not None:
            rules.append(NoRepeatNgram(self.no_repeat))
        if self.banned:
            rules.append(ban_texts(lm.tokenizer, self.banned))
        return rules
