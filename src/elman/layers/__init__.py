"""Layers: what networks are built of."""

from elman.layers.attention import Additive, Attention, AttentionScore, Bilinear, Dot, ScaledDot
from elman.layers.conversion import from_torch, to_torch
from elman.layers.crf import CRF
from elman.layers.cross_entropy import linear_cross_entropy
from elman.layers.decoders.base import Decoder
from elman.layers.decoders.with_attention import BahdanauDecoder, GNMTDecoder, InputFeedingDecoder, LuongDecoder
from elman.layers.decoders.without_attention import ContextDecoder, PlainDecoder, TransducerDecoder
from elman.layers.embedding import Embedding, LockedDropout, OneHot, PretrainedEmbedding, WordDropout
from elman.layers.encoder import Encoder, EncoderOutput, RecurrentEncoder, build_stacked_rnn
from elman.layers.kneser_ney import KneserNey
from elman.layers.mixture import Mixture
from elman.layers.pooling import (
    AttentionPooling,
    EndsPooling,
    LastPooling,
    MaxPooling,
    MeanPooling,
    WindowPooling,
    build_pooling,
)
from elman.layers.rnn import MERGES, RNN, BiRNN, RecurrentLayer, StackedRNN, select_last
from elman.layers.softmax import AdaptiveSoftmax, Softmax
from elman.layers.stateless_encoders import ConvolutionalEncoder, TransformerEncoder
from elman.layers.word_layer import CharacterCNN, CharacterRNN, WordBatch, WordLayer

__all__ = ["CRF", "MERGES", "RNN", "AdaptiveSoftmax", "Additive", "Attention", "AttentionPooling"]
__all__ += ["AttentionScore", "BahdanauDecoder", "BiRNN", "Bilinear", "CharacterCNN", "CharacterRNN"]
__all__ += ["ContextDecoder", "ConvolutionalEncoder", "Decoder", "Dot", "Embedding", "Encoder", "EncoderOutput"]
__all__ += [
    "EndsPooling",
    "GNMTDecoder",
    "InputFeedingDecoder",
    "KneserNey",
    "LastPooling",
    "LockedDropout",
    "LuongDecoder",
]
__all__ += ["MaxPooling", "MeanPooling", "Mixture", "OneHot", "PlainDecoder", "PretrainedEmbedding"]
__all__ += ["RecurrentEncoder", "RecurrentLayer", "ScaledDot", "Softmax", "StackedRNN", "TransducerDecoder"]
__all__ += ["TransformerEncoder", "WindowPooling", "WordBatch", "WordDropout", "WordLayer", "build_pooling"]
__all__ += ["build_stacked_rnn", "from_torch", "linear_cross_entropy", "select_last", "to_torch"]
