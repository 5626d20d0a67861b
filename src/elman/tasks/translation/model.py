"""The options of a sequence-to-sequence model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from elman.cells import named
from elman.errors import ConfigError
from elman.layers.attention import SCORES
from elman.tasks.settings import positive, share

Context = Literal["auto", "first", "every", "previous", "current", "between", "feeding", "aligned"]
ATTENDING = ("previous", "current", "between", "feeding")


@dataclass(frozen=True)
class Model:
    """The network, how it is trained and how it writes."""

    encoder: Literal["recurrent", "convolutional", "transformer"] = "recurrent"
    cell: str = "lstm"
    hidden: int = 256  # units of a layer
    layers: int = 2  # of the decoder
    encoder_layers: int = 0  # 0: as many as the decoder has
    encoder_hidden: int = 0  # units of the encoder's layers in each direction; 0: hidden
    bidirectional: bool = True
    embedding: int = 256  # features of a token
    vectors: str = ""  # a file of pretrained ones for the source's words
    # What of the source a step sees: `elman.layers.decoder`; auto: between layers, of one layer current.
    context: Context = "auto"
    score: Literal["dot", "scaled", "bilinear", "additive"] = "bilinear"  # of attention
    start: Literal["copied", "transformed", "zero"] = "transformed"  # the decoder's first state
    summary: Literal["last", "mean"] = "last"  # c = g(h_{1:n}): for the start, and for every step
    tied: bool = True  # the softmax has the rows of the target's embedding
    shared: bool = False  # one embedding for source and target; needs joint tokens
    single: bool = False  # one network reads the source, then <s>, then writes the target
    copying: bool = False  # words of the source can be written, known or not (See et al. 2017)
    coverage: float = 0.0  # what it costs in training to look twice at a word (See et al. 2017)
    smoothing: float = 0.1  # share of the probability that is spread over all tokens
    dropout: float = 0.3
    word_dropout: float = 0.0  # of whole tokens' embeddings, source and target
    metric: Literal["bleu", "chrf", "exact", "edit_rate", "nats_per_token"] = "chrf"  # to judge by
    bleu: Literal["13a", "none"] = "13a"  # how BLEU cuts words; none: at blanks, for tokenised text
    beam: int = 5  # hypotheses when it writes; in training, evaluations are greedy
    alpha: float = 1.0  # longer hypotheses are preferred: log p / length^α
    longest: int = 256  # the most tokens that are written
    replace: bool = False  # <unk> is written as the word of the source that was looked at

    def __post_init__(self) -> None:
        named(self.cell)
        if self.context == "auto":  # settled here, so that config.json says which it was
            object.__setattr__(self, "context", "between" if self.layers > 1 else "current")
        for name in ("hidden", "layers", "embedding", "beam", "longest"):
            positive(name, getattr(self, name))
        for name in ("dropout", "word_dropout", "smoothing"):
            share(name, getattr(self, name))
        for name in ("coverage", "alpha", "encoder_layers", "encoder_hidden"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be at least 0")
        assert self.score in SCORES
        self._check_context()
        self._check_start()

    def _check_context(self) -> None:
        for name in ("copying", "replace", "coverage"):
            if getattr(self, name) and self.context not in ATTENDING:
                raise ConfigError(
                    f"{name} needs attention, but context is {self.context!r}; "
                    f"take one of {', '.join(ATTENDING)}"
                )
        if self.context == "between" and self.layers < 2:
            raise ConfigError("context is 'between' layers, but layers is 1; take 'current' or 2")
        if self.copying and self.smoothing:
            raise ConfigError("copying has no smoothing: set smoothing to 0")
        if self.shared and self.vectors:
            raise ConfigError("vectors are for the source alone: set shared to false")
        if self.context == "aligned" and self.bidirectional:
            raise ConfigError(
                "context is 'aligned', which writes while it reads: set bidirectional to false"
            )
        if self.single and (
            self.context != "first" or self.bidirectional or self.encoder != "recurrent"
        ):
            raise ConfigError(
                "single is one recurrent network in one direction: set context to 'first', "
                "bidirectional to false and encoder to 'recurrent'"
            )
        if self.single and not (self.shared and (self.start, self.summary) == ("copied", "last")):
            raise ConfigError(
                "single has one embedding, one state: set shared to true, start to 'copied' and "
                "summary to 'last'"
            )

    def _check_start(self) -> None:
        if self.start != "copied" or self.summary == "mean" or self.context == "aligned":
            return
        if self.encoder != "recurrent":
            raise ConfigError(
                f"a {self.encoder} encoder has no last state to copy: set start to 'transformed', "
                "or summary to 'mean'"
            )
        if self.encoder_hidden not in (0, self.hidden):
            raise ConfigError(
                f"start is 'copied', but the encoder has {self.encoder_hidden} units and the decoder "
                f"{self.hidden}; let them be as many, or set start to 'transformed'"
            )
        if self.reading != self.layers:
            raise ConfigError(
                f"start is 'copied', but the encoder has {self.reading} layers and the decoder "
                f"{self.layers}; let them be as many, or set start to 'transformed'"
            )

    @property
    def reading(self) -> int:
        """Layers of the encoder."""
        return self.encoder_layers or self.layers

    @property
    def reading_units(self) -> int:
        """Units of the encoder's layers."""
        return self.encoder_hidden or self.hidden
