"""The parts that read words, for whoever runs a model elsewhere."""

from __future__ import annotations

from typing import Any

from elman.errors import ModelError
from elman.layers.word_layer import WordLayer
from elman.tasks.word_features import WordFeaturizer


def list_word_parts(featurizer: WordFeaturizer, layer: WordLayer) -> dict[str, Any]:
    """How words are cut, spelled and looked up."""
    if featurizer.inputs:
        names = ", ".join(given.column for given in featurizer.inputs)
        raise ModelError(f"the model reads column {names} beside the words: a text alone has none")
    if featurizer.readers:
        raise ModelError(
            "the model reads a language model of characters beside its words: it runs in Python only"
        )
    spelling = featurizer.spelling
    spelled = None
    if spelling is not None:
        casing = len(layer.features) == len(spelling.sizes)
        affixes = {"prefixes": spelling.prefixes, "suffixes": spelling.suffixes}
        items = {name: [list(v.items) for v in side] for name, side in affixes.items()}
        spelled = {"alphabet": list(spelling.alphabet.items), **items, "casing": casing}
    return {
        "tokenizer": featurizer.tokenizer,
        "spelling": spelled,
        "embeddings": list(layer.embed),
        "characters": layer.characters,
        "features": list(layer.features),
    }
