"""Characters mixed with whole symbols: features stand behind the last blank of a text."""

from __future__ import annotations

from pathlib import Path

import pytest

from elman.errors import ConfigError
from elman.tasks.config import TokenizerConfig
from elman.tasks.language_model.data import learn_tokenizer
from elman.text.pre_tokenizer import PreTokenizer
from elman.text.tokenizer import build_tokenizer, load_tokenizer
from elman.text.vocab import UNK

FEATURES = PreTokenizer("chars+features")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("go V;PST", ["g", "o", ";V", ";PST"]),
        ("go V|Tense=Past", ["g", "o", ";V", ";Tense=Past"]),
        ("give up V;PST", [*"give up", ";V", ";PST"]),
        ("go\tV", ["g", "o", ";V"]),
        ("dog PL;", ["d", "o", "g", ";PL"]),
        ("go", ["g", "o"]),
        ("a;b", ["a", ";", "b"]),
        ("", []),
    ],
)
def test_the_last_word_is_features(text: str, tokens: list[str]) -> None:
    assert FEATURES.tokenize(text) == tokens


@pytest.mark.parametrize("text", ["go V;PST", "give up V;PST", "go", "a;b N"])
def test_tokens_join_to_the_text(text: str) -> None:
    assert FEATURES.join(FEATURES.split(text)) == text


def test_a_feature_is_no_character(tmp_path: Path) -> None:
    built = build_tokenizer(["go V;PST", "Vic N"], kind="chars+features")
    built.save(tmp_path)
    loaded = load_tokenizer(tmp_path)
    assert loaded.kind == "chars+features"
    assert loaded.encode("V V") == built.encode("V V")
    letter, feature = loaded.encode("V V")
    assert letter != feature
    assert UNK not in (letter, feature)
    assert loaded.encode("go ADJ")[-1] == UNK


def test_running_text_has_no_features() -> None:
    with pytest.raises(ConfigError, match="no features"):
        learn_tokenizer(["go V;PST"], TokenizerConfig("chars+features"))
