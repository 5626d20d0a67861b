"""A task that begins with the words and the layers of a language model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from elman.errors import ConfigError
from elman.layers.embedding import Embedding
from elman.layers.encoder_start import copy_layers
from elman.tasks.config import TokenizerConfig
from elman.text.vocab import SPECIALS


def start_from_language_model(task: Any, tokens: TokenizerConfig, source: Any) -> tuple[Any, str]:
    """An untrained task with the words, the embedding and the layers of a language model; what it has got.

    Words that only the training data has begin at random.
    """
    if source.tokenizer.level != "word" or task.featurizer.tokenizer.level != "word":
        raise ConfigError(
            "a language model of words can begin this model, none of characters or pieces of words"
        )
    words = [word for word in source.tokenizer.items if word not in SPECIALS]
    grown = task.add_words(replace(tokens, min_count=1, size=0), words)
    place = grown.net.words.embed[0]
    if not isinstance(place, Embedding) or not hasattr(grown.net, "encode"):
        raise ConfigError(
            "a language model gives an embedding and layers: leave out vectors, one-hot and encoder"
        )
    rows = source.net.embed(torch.arange(len(source.tokenizer.items))[None])[0].detach()
    if rows.shape[1] != place.E.weight.shape[1]:
        raise ConfigError(f"the language model has embeddings of {rows.shape[1]} features: leave out embedding")
    known = {word: number for number, word in enumerate(grown.featurizer.tokenizer.items)}
    pairs = [(known[word], i) for i, word in enumerate(source.tokenizer.items) if word in known]
    ours, theirs = (torch.tensor(side) for side in zip(*pairs, strict=True))
    with torch.no_grad():
        place.E.weight[ours] = rows[theirs].to(place.E.weight)
    layers = copy_layers(source.net.layers, grown.net.encode)
    return grown, f"{len(pairs):,} words and {layers} layer{'s' * (layers != 1)} of a language model"
