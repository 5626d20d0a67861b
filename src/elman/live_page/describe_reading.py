"""What reads the characters of words, what sums texts up, and n-grams, as data."""

from __future__ import annotations

from typing import Any

from torch import nn

from elman.layers import pooling
from elman.layers.ngrams import NGramModel
from elman.layers.word_layer import CharacterCNN, CharacterRNN
from elman.live_page.describe_network import describe_level
from elman.live_page.describe_tokenizer import describe_tokenizer
from elman.live_page.page_parts import Describer, PageParts
from elman.text.subword_tokenizer import SubwordTokenizer
from elman.text.tokenizer import Tokenizer
from elman.text.vocab_tokenizer import VocabTokenizer


def _describe_tokenizer(tokenizer: Tokenizer, parts: PageParts) -> Any:
    return describe_tokenizer(tokenizer)


def _describe_cnn(layer: CharacterCNN, parts: PageParts) -> Any:
    return parts.describe({"kind": "cnn", "embed": layer.embed, "W": layer.W})


def _describe_rnn(layer: CharacterRNN, parts: PageParts) -> Any:
    return {"kind": "rnn", "embed": parts.describe(layer.embed), "layers": [describe_level(layer.read, parts)]}


def _describe_attention(layer: pooling.AttentionPooling, parts: PageParts) -> Any:
    return parts.describe({"kind": "attention", "W": layer.W, "v": layer.v})


def _describe_both(layer: pooling.ConcatPooling, parts: PageParts) -> Any:
    return parts.describe({"kind": "concat", "parts": [layer.first, layer.second]})


def _describe_ngrams(layer: NGramModel, parts: PageParts) -> Any:
    weights = parts.describe({"idf": layer.idf, "W": layer.W, "b": layer.b})
    return {"keys": parts.weights.add_integers(layer.keys), **weights}


def _describe_window(layer: pooling.WindowPooling, parts: PageParts) -> Any:
    return {"kind": "window", "width": layer.width}


def _plain(kind: str) -> Describer:
    """Of a pooling that has no weights."""

    def describe(layer: nn.Module, parts: PageParts) -> Any:
        return {"kind": kind}

    return describe


READING_LAYERS: dict[type, Describer] = {
    VocabTokenizer: _describe_tokenizer,
    SubwordTokenizer: _describe_tokenizer,
    CharacterCNN: _describe_cnn,
    CharacterRNN: _describe_rnn,
    NGramModel: _describe_ngrams,
    pooling.AttentionPooling: _describe_attention,
    pooling.ConcatPooling: _describe_both,
    pooling.WindowPooling: _describe_window,
    pooling.LastPooling: _plain("last"),
    pooling.EndsPooling: _plain("ends"),
    pooling.MeanPooling: _plain("mean"),
    pooling.MaxPooling: _plain("max"),
}
"""How these layers are described."""
