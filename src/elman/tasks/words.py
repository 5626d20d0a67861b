"""What a network sees of words: the options, the forms of some data, and batches of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from elman.errors import ConfigError
from elman.layers.words import Words
from elman.tasks.settings import positive, share
from elman.text.batching import pad


@dataclass(frozen=True)
class WordModel:
    """What x_i is made of."""

    embedding: int = 100  # features of a trained embedding
    vectors: str = ""  # a file of pretrained ones, which take its place
    vector_words: int = 100_000  # how many words of the file are known beyond the training data's
    frozen: bool = False  # leave the vectors as they are
    beside: bool = False  # keep the trained embedding, too
    characters: Literal["", "cnn", "lstm"] = ""  # what reads the characters of a word
    character_size: int = 30  # features of a character
    character_hidden: int = 50  # filters, or units of each direction
    casing: bool = False  # lower, UPPER, Title, digits, …
    affixes: int = 0  # prefixes and suffixes of up to so many letters
    word_dropout: float = 0.05

    def __post_init__(self) -> None:
        for name in ("embedding", "character_size", "character_hidden"):
            positive(name, getattr(self, name))
        for name in ("vector_words", "affixes"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be at least 0")
        share("word_dropout", self.word_dropout)
        if self.beside and not self.vectors:
            raise ConfigError("beside is true, but no vectors are given to stand beside")

    @property
    def spelled(self) -> bool:
        return bool(self.characters or self.casing or self.affixes)


Row = npt.NDArray[np.int32]


class Forms(NamedTuple):
    """The different words of some data; the first is the padding."""

    ids: npt.NDArray[np.int64]  # (N,)
    features: npt.NDArray[np.int64]  # (N, F)
    characters: npt.NDArray[np.int64]  # (N, C)


def side_by_side(rows: Sequence[Row], forms: Forms) -> Words:
    """Rows side by side, padded, with the spelling of each word that is among them."""
    places, mask = pad([row.tolist() for row in rows])
    used, place = np.unique(places.numpy(), return_inverse=True)
    characters = forms.characters[used]
    longest = int((characters != 0).any(0).sum())
    return Words(
        torch.from_numpy(forms.ids[places.numpy()]),
        mask,
        torch.from_numpy(forms.features[places.numpy()]),
        torch.from_numpy(place.reshape(places.shape)),
        torch.from_numpy(characters[:, :longest]),
    )
