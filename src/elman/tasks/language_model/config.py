"""The options of a language model's network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from elman.cells import get_cell
from elman.errors import ConfigError
from elman.ranges import (
    LayerCount,
    NonNegativeFloat,
    OptionalSize,
    PositiveInt,
    Range,
    Rate,
    Size,
    check_ranges,
)
from elman.tasks.config import check_residual

_DROPOUTS = ("dropout", "input_dropout", "layer_dropout", "mixture_dropout")
_SHARES = (*_DROPOUTS, "word_dropout", "weight_drop", "zoneout")
_COUNTS = ("ngrams", "ngram_least")
_STARTS = ("softmax_samples", "frequency_bias")
_PENALTIES = ("activation_penalty", "temporal_penalty")


@dataclass(frozen=True)
class LanguageModelConfig:
    """The network and how it is kept from learning by heart; the dropouts are those of Merity et al. 2018."""

    cell: str = "lstm"
    # Rounds of gating between input and state before each step (Melis et al. 2020).
    mogrifier_rounds: Annotated[int, Range(0, 100)] = 0
    mogrifier_rank: OptionalSize = 0  # of the matrices of those gates; 0: they are whole
    hidden: Size = 256  # units of a layer
    layers: LayerCount = 2
    last_hidden: OptionalSize = 0  # units of the last layer, where it is another size; 0: hidden
    embedding: Size = 256  # features of a token
    vectors: str = ""  # a file of pretrained ones, whose size takes its place
    freeze_vectors: bool = False  # leave those as they are
    tied: bool = True  # the softmax has the embedding's rows
    softmax: Literal["full", "adaptive"] = "full"
    # Rare tokens that a training loss draws in place of all (Jean et al. 2015); as many frequent ones are kept.
    softmax_samples: OptionalSize = 0  # 0: all are there
    frequency_bias: bool = False  # begin with a softmax whose bias is how frequent each token is
    cutoffs: tuple[PositiveInt, ...] = ()  # first ids of adaptive's clusters; none: at 1/16 and 1/4 of all
    mixtures: LayerCount = 1  # softmaxes that are mixed (Yang et al. 2018), each with a vector of its own
    mixture_dropout: Rate = 0.0  # of those vectors
    # Order of counted n-grams of the training text that are mixed in (Chen & Goodman 1999); 0: none.
    ngrams: Annotated[int, Range(0, 9)] = 0
    ngram_least: PositiveInt = 1  # those of three tokens and more that occur less often are left out
    dropout: Rate = 0.3  # of the last layer's outputs
    input_dropout: Rate | None = None  # of the first layer's inputs; none: as dropout
    layer_dropout: Rate | None = None  # between layers; none: as dropout
    word_dropout: Rate = 0.0  # of whole tokens' embeddings
    weight_drop: Rate = 0.0  # of the entries of recurrent matrices
    zoneout: Rate = 0.0  # share of the units that keep their state at a step
    residual: bool = False  # layers above the first add to what they read
    activation_penalty: NonNegativeFloat = 0.0  # how much large outputs cost: α mean(h²)
    temporal_penalty: NonNegativeFloat = 0.0  # how much sudden changes cost: β mean((h_t - h_{t-1})²)

    changeable: ClassVar[frozenset[str]] = frozenset(
        {*_SHARES, *_PENALTIES, *_COUNTS, "softmax_samples", "vectors"}
    )
    """Options that may change when a trained model is trained on: its weights fit as well."""

    def __post_init__(self) -> None:
        check_ranges(self)
        get_cell(self.cell)
        check_residual(self)
        if self.mogrifier_rank and not self.mogrifier_rounds:
            raise ConfigError(f"mogrifier_rank is {self.mogrifier_rank}, but mogrifier_rounds is 0")
        if self.freeze_vectors and not self.vectors:
            raise ConfigError("freeze_vectors is true, but there are no vectors to leave as they are")
        if self.tied and (self.freeze_vectors or self.softmax == "adaptive"):
            what = "frozen vectors" if self.freeze_vectors else "an adaptive softmax"
            raise ConfigError(f"tied is true, which is not for {what}; set it to false")
        if self.cutoffs and self.softmax != "adaptive":
            raise ConfigError("cutoffs are given, but softmax is not 'adaptive'")
        if self.mixtures > 1 and self.softmax == "adaptive":
            raise ConfigError(f"mixtures is {self.mixtures}, but an adaptive softmax is not mixed")
        for name in _STARTS:
            if getattr(self, name) and (self.softmax == "adaptive" or self.mixtures > 1):
                other = "an adaptive softmax" if self.softmax == "adaptive" else "a mixture of softmaxes"
                raise ConfigError(f"{name} is {getattr(self, name)}, which is not for {other}; leave it out")
        if self.ngram_least > 1 and self.ngrams < 3:
            raise ConfigError(
                f"ngram_least is {self.ngram_least}, but ngrams is {self.ngrams}; it must be 3 or more"
            )
        if self.mixture_dropout and self.mixtures == 1:
            raise ConfigError("mixture_dropout is given, but one softmax is no mixture")

    @property
    def fixed_vocabulary(self) -> bool:
        """Whether the network has no room for further tokens: clusters are cut by frequency, once."""
        return self.softmax == "adaptive"

    @property
    def widths(self) -> list[int]:
        """Units of each layer."""
        return [self.hidden] * (self.layers - 1) + [self.last_hidden or self.hidden]
