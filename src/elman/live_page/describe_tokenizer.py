"""A tokenizer as data."""

from __future__ import annotations

from typing import Any

from elman.errors import ModelError
from elman.text.subword_tokenizer import SubwordTokenizer
from elman.text.tokenizer import Tokenizer
from elman.text.vocab_tokenizer import VocabTokenizer


def describe_tokenizer(tokenizer: Tokenizer) -> dict[str, Any]:
    """How it cuts text, what it does to letters and digits, and its tokens by id."""
    if tokenizer.kind == "chars+features":
        raise ModelError("the model reads features, which a page cannot cut from a text")
    found: dict[str, Any] = {"kind": tokenizer.kind, "items": list(tokenizer.items)}
    if isinstance(tokenizer, VocabTokenizer):
        rule = tokenizer.pre_tokenizer
        return found | {"lower": rule.lower, "digits": rule.digits}
    assert isinstance(tokenizer, SubwordTokenizer)
    return found | _describe_subwords(tokenizer.definition)


def _describe_subwords(stored: dict[str, Any]) -> dict[str, Any]:
    model, normalizer = stored["model"], stored["normalizer"]
    steps = [] if normalizer is None else normalizer.get("normalizers", [normalizer])
    kinds = {step["type"] for step in steps}
    if kinds - {"Lowercase", "Replace"} or stored["pre_tokenizer"]["type"] != "ByteLevel":
        raise ModelError("the tokenizer was not made by Elman: a page knows only the subwords that it makes")
    found: dict[str, Any] = {"lower": "Lowercase" in kinds, "digits": "Replace" in kinds}
    if model["type"] == "Unigram":
        return found | {"scores": [score for _, score in model["vocab"]]}
    # Older versions of the library write a pair as one text.
    merges = [pair.split(" ") if isinstance(pair, str) else list(pair) for pair in model["merges"]]
    return found | {"merges": merges}
