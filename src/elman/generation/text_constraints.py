"""What a language model may write next, said of text: how an unfinished word goes on, what is banned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch

from elman.decoding import Constraint, History
from elman.decoding.constraints import BannedTokens
from elman.generation.partial_prefix import PartialPrefix
from elman.generation.token_bytes import TokenBytes, token_bytes
from elman.shapes import Float, Tensor
from elman.text.tokenizer import Tokenizer
from elman.text.vocab import UNK


@dataclass(frozen=True)
class CompletesPrefix:
    """First of all what was typed, in any tokens that agree with it."""

    partial_prefix: PartialPrefix

    @property
    def inert_from(self) -> int:
        """From where on it forbids nothing."""
        return self.partial_prefix.most

    def __call__(self, written: History, logits: Float[Tensor, "B V"]) -> Float[Tensor, "B V"]:
        if written.length >= self.inert_from:
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
