from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elman.errors import ConfigError, DataError, ModelError
from elman.text.codec import KINDS, Codec, build, load
from elman.text.vocab import BOS, EOS, PAD, SPECIALS

TEXTS = ["The cat sat on the mat .", "the dog 12 sat", "a mat </s> <pad> <s>", "Ünïcode 👍🏽"] * 3
texts = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(TEXTS)


@cache
def codec(kind: str) -> Codec:
    return build(TEXTS, kind=kind, size=300 if kind in ("bpe", "unigram") else None)


@pytest.mark.parametrize("kind", KINDS)
def test_the_specials_are_the_first_four_ids(kind: str) -> None:
    assert codec(kind).items[:4] == SPECIALS


@pytest.mark.parametrize("kind", KINDS)
@given(text=texts)
def test_no_text_encodes_to_padding_start_or_end(kind: str, text: str) -> None:
    ids = codec(kind).encode(text)
    assert not {PAD, BOS, EOS} & set(ids)
    assert all(0 <= i < len(codec(kind).items) for i in ids)
    assert len(ids) == len(codec(kind).tokens(text))


@pytest.mark.parametrize("kind", ["bytes", "bpe", "unigram"])
@given(text=texts)
def test_bytes_and_subwords_give_back_any_text(kind: str, text: str) -> None:
    assert codec(kind).decode(codec(kind).encode(text)) == text


@pytest.mark.parametrize("kind", ["chars", "whitespace"])
def test_characters_and_whitespace_give_back_known_text(kind: str) -> None:
    for text in TEXTS[:2]:
        assert codec(kind).decode(codec(kind).encode(text)) == text


@pytest.mark.parametrize("kind", KINDS)
def test_decoding_leaves_out_padding_start_and_end(kind: str) -> None:
    ids = codec(kind).encode("the cat")
    assert codec(kind).decode([BOS, *ids, EOS, PAD, PAD]) == codec(kind).decode(ids) == "the cat"


@pytest.mark.parametrize("kind", KINDS)
def test_a_codec_comes_back_from_its_folder(tmp_path: Path, kind: str) -> None:
    size = 280 if kind in ("bpe", "unigram") else None
    made = build(TEXTS, kind=kind, lower=True, digits=True, size=size)
    made.save(tmp_path, "source.")
    assert [path.name for path in tmp_path.iterdir()] in (
        ["source.vocab.json"],
        ["source.tokenizer.json"],
    )
    again = load(tmp_path, "source.")
    assert again.items == made.items
    for text in [*TEXTS, "Other 34"]:
        assert again.encode(text) == made.encode(text)
        assert again.tokens(text) == made.tokens(text)


@pytest.mark.parametrize("kind", KINDS)
def test_folding_holds_in_every_kind(kind: str) -> None:
    size = 280 if kind in ("bpe", "unigram") else None
    made = build(TEXTS, kind=kind, lower=True, digits=True, size=size)
    assert made.encode("THE CAT 99") == made.encode("the cat 12")
    assert made.decode(made.encode("THE 99")) == "the 00"


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"unigram"}))
def test_the_same_texts_give_the_same_codec(kind: str) -> None:
    size = 300 if kind == "bpe" else None
    assert build(TEXTS, kind=kind, size=size).items == codec(kind).items


def test_bpe_joins_what_often_stands_together() -> None:
    made = build(["low lower lowest"] * 5, kind="bpe", size=270)
    assert "low" in made.items
    assert build(["low lower lowest"] * 5, kind="bpe", size=270, min_count=99).items == (
        *SPECIALS,
        *sorted(made.items[4:260]),
    )


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"bytes"}))
def test_an_error_of_the_reader_passes_through_training(kind: str) -> None:
    def broken() -> Iterator[str]:
        yield "a"
        raise DataError("a.txt:2: broken")

    with pytest.raises(DataError, match=r"^a\.txt:2: broken$"):
        build(broken(), kind=kind)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "word"}, "unknown kind of tokens 'word'; choose from words, whitespace"),
        ({"kind": "bytes", "size": 300}, "bytes are always all 256"),
        ({"kind": "bytes", "min_count": 2}, "bytes are always all 256"),
        ({"kind": "bpe", "size": 259}, "a size of 260 or more, 259 is too small"),
        ({"kind": "unigram", "min_count": 2}, "they take no min_count"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build(["a"], **options)  # type: ignore[arg-type]


def test_half_a_surrogate_pair_can_be_encoded() -> None:
    for kind in KINDS:
        assert codec(kind).encode("a \udc80")


@pytest.mark.parametrize(("kind", "name"), [("words", "vocab.json"), ("bpe", "tokenizer.json")])
@given(cut=st.floats(0, 0.99), junk=st.sampled_from(["", "\0", "]", '"a": 1}']))
@settings(max_examples=30, deadline=None)
def test_a_damaged_file_is_a_model_error(
    tmp_path_factory: pytest.TempPathFactory, kind: str, name: str, cut: float, junk: str
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    codec(kind).save(folder)
    whole = (folder / name).read_text(encoding="utf-8")
    (folder / name).write_text(whole[: int(cut * (len(whole) - 2))] + junk, encoding="utf-8")
    with pytest.raises(ModelError, match=rf"{name}: the file is damaged") as caught:
        load(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "bpe"},
        {"kind": ["words"]},
        {"lower": 1},
        {"tokens": ["a", "b"]},
        {"tokens": [*SPECIALS, "a", "a"]},
        {"tokens": [*SPECIALS, 1]},
        {"more": 1},
    ],
)
def test_a_vocabulary_of_another_make_is_a_model_error(
    tmp_path: Path, change: dict[str, object]
) -> None:
    stored = {"kind": "words", "lower": False, "digits": False, "tokens": [*SPECIALS, "a"]}
    (tmp_path / "vocab.json").write_text(json.dumps(stored))
    assert load(tmp_path).items == (*SPECIALS, "a")
    (tmp_path / "vocab.json").write_text(json.dumps(stored | change))
    with pytest.raises(ModelError, match=r"vocab\.json: the file is damaged"):
        load(tmp_path)


def test_a_tokenizer_of_another_make_is_a_model_error(tmp_path: Path) -> None:
    codec("bpe").save(tmp_path)
    path = tmp_path / "tokenizer.json"
    path.write_text(path.read_text(encoding="utf-8").replace("<pad>", "[PAD]"), encoding="utf-8")
    with pytest.raises(ModelError, match="numbered from 0, the special ones first"):
        load(tmp_path)


def test_a_folder_with_no_codec_or_with_two_is_a_model_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"vocab\.json: cannot be read"):
        load(tmp_path)
    codec("words").save(tmp_path)
    codec("bpe").save(tmp_path)
    with pytest.raises(ModelError, match="one too many"):
        load(tmp_path)


def test_text_and_metrics_need_no_torch() -> None:
    program = (
        "import sys, elman.metrics, elman.text.codec, elman.text.tables, elman.text.conll\n"
        "import elman.text.parallel, elman.text.vectors\n"
        "sys.exit('torch' in sys.modules or 'tokenizers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
