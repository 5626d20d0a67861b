"""How a text is written: how tokens are chosen, what they may not be, how many, and where they stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch

from elman.decoding import Beam, Constraint, Greedy, History, Sample, Stop
from elman.decoding.constraints import BannedTokens, MinLength, NoRepeatNgram
from elman.decoding.stopping import AnyOf, AtStrings, AtTokens, within
from elman.errors import ConfigError, check_option
from elman.generation.cursor import Prompt, decode_continuation, special_ids
from elman.generation.partial_prefix import PartialPrefix
from elman.generation.predictor import Predictor
from elman.generation.token_bytes import TokenBytes, token_bytes
from elman.shapes import Float, Tensor
from elman.text.tokenizer import Tokenizer
from elman.text.vocab import UNK


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

    max_tokens: int = 100  # the most
    min_tokens: int = 0  # the fewest before the text may end
    max_seconds: float | None = None  # stop at the first token after so long; None: no deadline
    no_repeat: int | None = None  # no n-gram of tokens twice; None: anything may repeat
    banned: tuple[str, ...] = ()  # of a model of words these words, of others these strings
    stop: tuple[str, ...] = ()  # the text ends before any of these strings

    def __post_init__(self) -> None:
        check_option("max_tokens", self.max_tokens, self.max_tokens >= 1, "at least 1")
        for name in ("banned", "stop"):
            strings = getattr(self, name)
            check_option(name, repr(strings), not isinstance(strings, str), "a tuple of strings")
            if "" in strings:
                raise ConfigError(f"{name} has an empty string in it, which every text contains")

    def stopping(self, lm: Predictor, prompt: Prompt) -> Stop:
        """Where a text is over; the clock of ``max_seconds`` runs from now."""
        stops: list[Stop] = [AtTokens((lm.end,))]
        if self.stop:
            stops.append(AtStrings(self.stop, lambda _, ids: decode_continuation(lm, prompt, ids)))
        if self.max_seconds is not None:
            stops.append(within(self.max_seconds))
        return AnyOf(tuple(stops)) if len(stops) > 1 else stops[0]

    def constraints(self, lm: Predictor, prompt: Prompt) -> list[Constraint]:
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


@dataclass(frozen=True)
class CompletesPrefix:
    """First of all what was typed, in any tokens that agree with it."""

    partial_prefix: PartialPrefix

    def __call__(self, written: History, logits: Float[Tensor, "B V"]) -> Float[Tensor, "B V"]:
        if written.tokens.shape[1] >= self.partial_prefix.most:
            return logits
        barred = torch.zeros_like(logits, dtype=torch.bool)
        for row, ids in enumerate(written.tokens.tolist()):
            allowed = self.partial_prefix.next_ids(ids)
            if allowed is not None:
                barred[row] = True
                barred[row, list(allowed)] = False
        return logits.masked_fill(barred, float("-inf"))


@dataclass(frozen=True)
class BannedText:
    """None of these strings of bytes anywhere in a row, however it is cut into tokens."""

    token_bytes: TokenBytes
    strings: tuple[bytes, ...]

    def __call__(self, written: History, logits: Float[Tensor, "B V"]) -> Float[Tensor, "B V"]:
        barred = torch.zeros_like(logits, dtype=torch.bool)
        barred[:, self._containing] = True
        reach = max(map(len, self.strings)) - 1
        recent = written.tokens[:, max(0, written.tokens.shape[1] - reach) :]
        for row, ids in enumerate(recent.tolist()):
            tail = self.token_bytes.text(ids)
            for string in self.strings:
                for begun in range(1, len(string)):
                    if tail.endswith(string[:begun]):
                        barred[row, self.token_bytes.starting_with(string[begun:])] = True
        return logits.masked_fill(barred, float("-inf"))

    @cached_property
    def _containing(self) -> list[int]:
        tokens = enumerate(self.token_bytes.tokens)
        return [i for i, token in tokens if any(string in token for string in self.strings)]


def ban_texts(tokenizer: Tokenizer, texts: Sequence[str]) -> Constraint:
    """None of these texts: for models of words these words (or several in a row), for others these strings."""
    if tokenizer.level == "word":
        sequences = [tuple(tokenizer.encode(text)) for text in texts]
        return BannedTokens(tuple(ids for ids in sequences if ids and UNK not in ids))
    folded = [tokenizer.decode(tokenizer.encode(text)) for text in texts]
    return BannedText(token_bytes(tokenizer), tuple(text.encode("utf-8", "replace") for text in folded))
