"""The options of a sequence-to-sequence model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from elman.cells import get_cell
from elman.errors import ConfigError
from elman.layers.attention import SCORES
from elman.ranges import (
    BeamWidth,
    LayerCount,
    LengthPenalty,
    NonNegativeFloat,
    OptionalSize,
    PositiveInt,
    Range,
    Rate,
    Size,
    check_ranges,
)

DecoderKind = Literal["auto", "plain", "context", "bahdanau", "luong", "gnmt", "input-feeding", "transducer"]
ATTENDING = ("bahdanau", "luong", "gnmt", "input-feeding")
MemberCount = Annotated[int, Range(1, 16)]
_TRAINING = ("dropout", "word_dropout", "label_smoothing", "coverage", "vectors")
_WRITING = ("metric", "bleu", "ctc_ranking", "beam", "length_penalty", "max_tokens", "replace_unk")


@dataclass(frozen=True)
class Seq2SeqConfig:
    """The network, how it is trained and how it writes."""

    encoder: Literal["recurrent", "convolutional", "transformer"] = "recurrent"
    cell: str = "lstm"
    hidden: Size = 256  # units of a layer
    layers: LayerCount = 2  # of the decoder
    encoder_layers: Annotated[int, Range(0, 256)] = 0  # 0: as many as the decoder has
    encoder_hidden: OptionalSize = 0  # units of the encoder's layers in each direction; 0: hidden
    bidirectional: bool = True
    embedding: Size = 256  # features of a token
    vectors: str = ""  # a file of pretrained ones for the source's words
    # How a step sees the source, see `elman.layers.decoders`; auto: gnmt, of one layer luong.
    decoder: DecoderKind = "auto"
    score: Literal["dot", "scaled", "bilinear", "additive"] = "bilinear"  # of attention
    decoder_init: Literal["copied", "transformed", "zero"] = "transformed"  # the decoder's first state
    summary: Literal["last", "mean"] = "last"  # c = g(h_{1:n}): for the start, and for every step
    context_readout: bool = True  # decoder context: the softmax reads tanh(W [h; c]); false: h alone
    tied: bool = True  # the softmax has the rows of the target's embedding
    shared: bool = False  # one embedding for source and target; needs joint tokens
    decoder_only: bool = False  # one network reads the source, then <s>, then writes the target
    copying: bool = False  # words of the source can be written, known or not (See et al. 2017)
    coverage: NonNegativeFloat = 0.0  # what it costs in training to look twice at a word (See et al. 2017)
    ctc: NonNegativeFloat = 0.0  # weight of a second loss: the encoder alone spells the target, in order (CTC)
    ctc_ranking: NonNegativeFloat = 0.0  # weight of log p of CTC when the answers of a beam are ranked
    members: MemberCount = 1  # networks, trained side by side; the mean of their probabilities writes
    label_smoothing: Rate = 0.1  # share of the probability that is spread over all tokens
    dropout: Rate = 0.3
    zoneout: Rate = 0.0  # share of the units that keep their state at a step
    residual: bool = False  # layers above the first add to what they read
    word_dropout: Rate = 0.0  # of whole tokens' embeddings, source and target
    metric: Literal["bleu", "chrf", "exact", "edit_rate", "nats_per_token"] = "chrf"  # to judge by
    bleu: Literal["13a", "none"] = "13a"  # how BLEU cuts words; none: at blanks, for tokenised text
    beam: BeamWidth = 5  # hypotheses when it writes; in training, evaluations are greedy
    length_penalty: LengthPenalty = 1.0  # longer hypotheses are preferred: log p / length^α
    max_tokens: PositiveInt = 256  # the most tokens that are written
    replace_unk: bool = False  # <unk> is written as the word of the source that was looked at

    changeable: ClassVar[frozenset[str]] = frozenset((*_TRAINING, *_WRITING))
    """Options that may change when a trained model is trained on: its weights fit as well."""

    def __post_init__(self) -> None:
        check_ranges(self)
        get_cell(self.cell)
        if self.decoder == "auto":  # settled here, so that config.json says which it was
            object.__setattr__(self, "decoder", "gnmt" if self.layers > 1 else "luong")
        assert self.score in SCORES
        self._check_decoder()
        self._check_start()
        if self.residual and not (self.residual_encoder or self.residual_decoder):
            raise ConfigError("residual is true, but no layer adds to what it reads: take more layers")
        if self.zoneout and self.encoder != "recurrent" and self.decoder == "transducer":
            raise ConfigError("zoneout is for cells, and there are none: set encoder to 'recurrent'")

    def _check_decoder(self) -> None:
        for name in ("copying", "replace_unk", "coverage"):
            if getattr(self, name) and self.decoder not in ATTENDING:
                given, known = self.decoder, ", ".join(ATTENDING)
                raise ConfigError(f"{name} needs attention, but decoder is {given!r}; take one of {known}")
        if not self.context_readout and self.decoder != "context":
            raise ConfigError(f"context_readout is for the decoder 'context', but decoder is {self.decoder!r}")
        if self.decoder == "gnmt" and self.layers < 2:
            raise ConfigError("decoder is 'gnmt', which needs two layers, but layers is 1; take 'luong' or 2")
        if self.ctc_ranking and not self.ctc:
            raise ConfigError("ctc_ranking needs what ctc trains: set ctc above 0, such as 0.3")
        if self.copying and self.label_smoothing:
            raise ConfigError("copying has no label smoothing: set label_smoothing to 0")
        if self.shared and self.vectors:
            raise ConfigError("vectors are for the source alone: set shared to false")
        if self.decoder == "transducer" and self.bidirectional:
            raise ConfigError("a 'transducer' decoder writes while it reads: set bidirectional to false")
        if self.decoder_only and (self.decoder != "plain" or self.bidirectional or self.encoder != "recurrent"):
            raise ConfigError(
                "decoder_only is one recurrent network in one direction: set decoder to 'plain', "
                "bidirectional to false and encoder to 'recurrent'"
            )
        if self.decoder_only and not (self.shared and (self.decoder_init, self.summary) == ("copied", "last")):
            raise ConfigError(
                "decoder_only has one embedding, one state: set shared to true, decoder_init to 'copied' and "
                "summary to 'last'"
            )

    def _check_start(self) -> None:
        if self.decoder_init != "copied" or self.summary == "mean" or self.decoder == "transducer":
            return
        if self.encoder != "recurrent":
            raise ConfigError(
                f"a {self.encoder} encoder has no last state to copy: set decoder_init to 'transformed', "
                "or summary to 'mean'"
            )
        sizes = (self.reading_units, self.hidden, "units"), (self.reading, self.layers, "layers")
        for encoder, decoder, what in sizes:
            if encoder != decoder:
                raise ConfigError(
                    f"decoder_init is 'copied', but the encoder has {encoder} {what} and the decoder "
                    f"{decoder}; let them be as many, or set decoder_init to 'transformed'"
                )

    @property
    def residual_encoder(self) -> bool:
        return self.residual and self.encoder == "recurrent" and self.reading > 1

    @property
    def residual_decoder(self) -> bool:
        """Do layers of the decoder add to what they read? The one that reads a context does not."""
        plain = self.layers - (self.decoder == "gnmt")
        return self.residual and plain > 1 and self.decoder != "transducer"

    @property
    def reading(self) -> int:  # layers of the encoder
        return self.encoder_layers or self.layers

    @property
    def reading_units(self) -> int:  # units of the encoder's layers
        return self.encoder_hidden or self.hidden
