"""Words as networks read them: the options, the forms of some data, batches, and the layers over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from elman.cells import get_cell, with_zoneout
from elman.errors import ConfigError
from elman.layers.encoder import build_stacked_rnn
from elman.layers.rnn import RNN, StackedRNN
from elman.layers.word_layer import WordBatch
from elman.ranges import LayerCount, NonNegativeInt, Range, Rate, Size, check_ranges
from elman.tasks.config import check_residual
from elman.text.batching import pad


@dataclass(frozen=True)
class WordFeaturesConfig:
    """What x_i is made of, and the recurrent layers that read x_{1:n}."""

    embedding: Size = 100  # features of a trained embedding
    vectors: str = ""  # a file of pretrained ones, which take its place
    vector_words: NonNegativeInt = 100_000  # how many words of the file are known beyond the training data's
    freeze_vectors: bool = False  # leave the vectors as they are
    keep_embedding: bool = False  # keep the trained embedding, too
    characters: Literal["", "cnn", "lstm"] = ""  # what reads the characters of a word
    character_size: Size = 30  # features of a character
    character_hidden: Size = 50  # filters, or units of each direction
    casing: bool = False  # lower, UPPER, Title, digits, …
    lm_forward: str = ""  # folder of a language model of characters, whose states are read beside the words
    lm_backward: str = ""  # and of one that was trained on lines written from their end
    affixes: Annotated[int, Range(0, 100)] = 0  # prefixes and suffixes of up to so many letters
    word_dropout: Rate = 0.05
    cell: str = "lstm"
    hidden: Size = 128  # units of each direction
    layers: LayerCount = 1
    bidirectional: bool = True
    dropout: Rate = 0.4
    zoneout: Rate = 0.0  # share of the units that keep their state at a step
    residual: bool = False  # layers above the first add to what they read

    changeable: ClassVar[frozenset[str]] = frozenset(
        {"word_dropout", "vectors", "vector_words", "dropout", "zoneout"}
    )
    """Options that may change when a trained model is trained on: its weights fit as well."""

    def __post_init__(self) -> None:
        check_ranges(self)
        get_cell(self.cell)
        check_residual(self)
        if self.keep_embedding and not self.vectors:
            raise ConfigError("keep_embedding is true, but no vectors are given to stand beside")

    @property
    def fixed_vocabulary(self) -> bool:
        """Whether the network has no room for further words."""
        return False

    @property
    def lm_folders(self) -> dict[bool, str]:
        """The language models that are read beside the words, by whether they read backward."""
        given = {False: self.lm_forward, True: self.lm_backward}
        return {backward: folder for backward, folder in given.items() if folder}

    @property
    def spells(self) -> bool:
        return bool(self.characters or self.casing or self.affixes)


WordRow = npt.NDArray[np.int32]


class WordForms(NamedTuple):
    """The different words of some data; the first is the padding."""

    ids: npt.NDArray[np.int64]  # (N,)
    features: npt.NDArray[np.int64]  # (N, F)
    characters: npt.NDArray[np.int64]  # (N, C)
    codes: npt.NDArray[np.int64] = np.zeros((0, 0, 0), np.int64)  # (R, N, C), for each language model


def collate(rows: Sequence[WordRow], forms: WordForms) -> WordBatch:
    """Rows side by side, padded, with the spelling of each word that is among them."""
    places, mask = pad([row.tolist() for row in rows])
    if forms.characters.shape[1] or len(forms.codes):
        used, place = np.unique(places.numpy(), return_inverse=True)
    else:  # nobody spells: every place is that of the padding
        used, place = np.zeros(1, np.int64), np.zeros(places.shape, np.int64)
    characters = forms.characters[used]
    longest = int((characters != 0).any(0).sum())
    return WordBatch(
        torch.from_numpy(forms.ids[places.numpy()]),
        mask,
        torch.from_numpy(forms.features[places.numpy()]),
        torch.from_numpy(place.reshape(places.shape)),
        torch.from_numpy(characters[:, :longest]),
        torch.from_numpy(forms.codes[:, used] if len(forms.codes) else forms.codes),
    )


def build_encoder(config: WordFeaturesConfig, size: int, dropout: float) -> RNN | StackedRNN:
    """The recurrent layers of a configuration, over ``size`` features."""
    return build_stacked_rnn(
        with_zoneout(get_cell(config.cell), config.zoneout),
        (size, config.hidden),
        layers=config.layers,
        bidirectional=config.bidirectional,
        dropout=dropout,
        residual=config.residual,
    )
