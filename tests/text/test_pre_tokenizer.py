from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.text.pre_tokenizer import SPLIT_RULES, PreTokenizer, split_words

texts = st.text(st.characters(exclude_categories=["Cs"])) | st.text("aé\u0301'-.,1 \u200d👍🏽🇩🇪漢_\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I don't know!", ["I", "don't", "know", "!"]),
        ("a well-known l’homme", ["a", "well-known", "l’homme"]),
        ("the dogs' 'tis -- so", ["the", "dogs", "'", "'", "tis", "-", "-", "so"]),
        ("pi=3.14, 1,000 at 10:30.", ["pi", "=", "3.14", ",", "1,000", "at", "10:30", "."]),
        ("cafe\u0301s", ["cafe\u0301s"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("我爱NLP", ["我", "爱", "NLP"]),
        ("👩\u200d👩\u200d👧👍🏽ok", ["👩\u200d👩\u200d👧", "👍🏽", "ok"]),
        ("🇩🇪🇫🇷❤\ufe0f!", ["🇩🇪", "🇫🇷", "❤\ufe0f", "!"]),
        ("", []),
    ],
)
def test_words_are_what_a_reader_takes_for_words(text: str, words: list[str]) -> None:
    assert split_words(text) == words


@given(texts)
def test_words_lose_nothing_but_blanks(text: str) -> None:
    tokens = split_words(text)
    assert "".join(tokens) == "".join(text.split())
    assert all(tokens)


@given(texts)
def test_a_mark_stays_with_what_it_marks(text: str) -> None:
    cuts, at = set(), 0
    solid = "".join(text.split())
    for token in split_words(text):
        cuts.add(at)
        at += len(token)
    blanks = {len("".join(text[:i].split())) for i, c in enumerate(text) if c.isspace()}
    for i in cuts - blanks - {0}:
        assert not unicodedata.category(solid[i]).startswith("M")


@given(texts)
def test_characters_and_bytes_join_to_the_very_text(text: str) -> None:
    for kind in ("chars", "bytes"):
        pre_tokenizer = PreTokenizer(kind)
        assert pre_tokenizer.join(pre_tokenizer.tokenize(text)) == text


@given(texts)
def test_whitespace_tokens_join_with_single_blanks(text: str) -> None:
    pre_tokenizer = PreTokenizer("whitespace")
    joined = pre_tokenizer.join(pre_tokenizer.tokenize(text))
    assert joined.split(" ") == (text.split() or [""])
    assert pre_tokenizer.join(pre_tokenizer.tokenize(joined)) == joined


@given(texts)
def test_byte_tokens_are_the_bytes(text: str) -> None:
    assert bytes.fromhex("".join(PreTokenizer("bytes").tokenize(text))) == text.encode()


def test_broken_bytes_join_to_the_replacement_character() -> None:
    assert PreTokenizer("bytes").join(["61", "c3", "<unk>", "62"]) == "a\ufffd\ufffdb"


@given(texts)
def test_folding_is_lower_case_and_zeros(text: str) -> None:
    assert PreTokenizer(lower=True).normalize(text) == text.lower()
    folded = PreTokenizer(digits=True).normalize(text)
    assert folded == "".join("0" if unicodedata.category(c) == "Nd" else c for c in text)
    assert PreTokenizer().normalize(text) == text


@pytest.mark.parametrize("kind", SPLIT_RULES)
def test_every_kind_folds_before_it_cuts(kind: str) -> None:
    pre_tokenizer = PreTokenizer(kind, lower=True, digits=True)
    assert pre_tokenizer.join(pre_tokenizer.tokenize("Ab 12")) == "ab 00"


@pytest.mark.parametrize("kind", SPLIT_RULES)
def test_half_a_surrogate_pair_can_be_cut(kind: str) -> None:
    assert PreTokenizer(kind).tokenize("a \udc80")
