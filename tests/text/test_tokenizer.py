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
from elman.text.tokenizer import TOKEN_KINDS, Tokenizer, build_tokenizer, load_tokenizer
from elman.text.vocab import BOS, EOS, PAD, SPECIALS, UNK

TEXTS = ["The cat sat on the mat .", "the dog 12 sat", "a mat </s> <pad> <s>", "Ünïcode 👍🏽"] * 3
WHOLE_TEXT = sorted(set(TOKEN_KINDS) - {"chars+features"})  # what follows a blank is no feature
texts = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(TEXTS)


@cache
def tokenizer(kind: str) -> Tokenizer:
    return build_tokenizer(TEXTS, kind=kind, size=300 if kind in ("bpe", "unigram") else None)


@pytest.mark.parametrize("kind", TOKEN_KINDS)
def test_the_specials_are_the_first_four_ids(kind: str) -> None:
    assert tokenizer(kind).items[:4] == SPECIALS


@pytest.mark.parametrize("kind", TOKEN_KINDS)
@given(text=texts)
def test_no_text_encodes_to_padding_start_or_end(kind: str, text: str) -> None:
    ids = tokenizer(kind).encode(text)
    assert not {PAD, BOS, EOS} & set(ids)
    assert all(0 <= i < len(tokenizer(kind).items) for i in ids)
    assert len(ids) == len(tokenizer(kind).tokens(text))


@pytest.mark.parametrize("kind", ["bytes", "bpe", "unigram"])
@given(text=texts)
def test_bytes_and_subwords_give_back_any_text(kind: str, text: str) -> None:
    assert tokenizer(kind).decode(tokenizer(kind).encode(text)) == text


@pytest.mark.parametrize("kind", ["chars", "whitespace"])
def test_characters_and_whitespace_give_back_known_text(kind: str) -> None:
    for text in TEXTS[:2]:
        assert tokenizer(kind).decode(tokenizer(kind).encode(text)) == text


@pytest.mark.parametrize("kind", WHOLE_TEXT)
def test_decoding_leaves_out_padding_start_and_end(kind: str) -> None:
    ids = tokenizer(kind).encode("the cat")
    assert tokenizer(kind).decode([BOS, *ids, EOS, PAD, PAD]) == tokenizer(kind).decode(ids) == "the cat"


@pytest.mark.parametrize("kind", TOKEN_KINDS)
def test_a_codec_comes_back_from_its_folder(tmp_path: Path, kind: str) -> None:
    size = 280 if kind in ("bpe", "unigram") else None
    made = build_tokenizer(TEXTS, kind=kind, lower=True, digits=True, size=size)
    made.save(tmp_path, "source.")
    assert [path.name for path in tmp_path.iterdir()] in (["source.vocab.json"], ["source.tokenizer.json"])
    again = load_tokenizer(tmp_path, "source.")
    assert again.items == made.items
    for text in [*TEXTS, "Other 34"]:
        assert again.encode(text) == made.encode(text)
        assert again.tokens(text) == made.tokens(text)


@pytest.mark.parametrize("kind", WHOLE_TEXT)
def test_folding_holds_in_every_kind(kind: str) -> None:
    size = 280 if kind in ("bpe", "unigram") else None
    made = build_tokenizer(TEXTS, kind=kind, lower=True, digits=True, size=size)
    assert made.encode("THE CAT 99") == made.encode("the cat 12")
    assert made.decode(made.encode("THE 99")) == "the 00"


@pytest.mark.parametrize("kind", TOKEN_KINDS)
def test_the_same_texts_give_the_same_codec(kind: str) -> None:
    size = 300 if kind in ("bpe", "unigram") else None
    assert build_tokenizer(TEXTS, kind=kind, size=size).items == tokenizer(kind).items


def test_bpe_joins_what_often_stands_together() -> None:
    made = build_tokenizer(["low lower lowest"] * 5, kind="bpe", size=270)
    assert "low" in made.items
    assert build_tokenizer(["low lower lowest"] * 5, kind="bpe", size=270, min_count=99).items == (
        *SPECIALS,
        *sorted(made.items[4:260]),
    )


@pytest.mark.parametrize("kind", sorted(set(TOKEN_KINDS) - {"bytes"}))
def test_an_error_of_the_reader_passes_through_training(kind: str) -> None:
    def broken() -> Iterator[str]:
        yield "a"
        raise DataError("a.txt:2: broken")

    with pytest.raises(DataError, match=r"^a\.txt:2: broken$"):
        build_tokenizer(broken(), kind=kind)


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
        build_tokenizer(["a"], **options)  # type: ignore[arg-type]


def test_half_a_surrogate_pair_can_be_encoded() -> None:
    for kind in TOKEN_KINDS:
        assert tokenizer(kind).encode("a \udc80")


@pytest.mark.parametrize(("kind", "name"), [("words", "vocab.json"), ("bpe", "tokenizer.json")])
@given(cut=st.floats(0, 0.99), junk=st.sampled_from(["", "\0", "]", '"a": 1}']))
@settings(max_examples=30, deadline=None)
def test_a_damaged_file_is_a_model_error(
    tmp_path_factory: pytest.TempPathFactory, kind: str, name: str, cut: float, junk: str
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    tokenizer(kind).save(folder)
    whole = (folder / name).read_text(encoding="utf-8")
    (folder / name).write_text(whole[: int(cut * (len(whole) - 2))] + junk, encoding="utf-8")
    with pytest.raises(ModelError, match=rf"{name}: the file is damaged") as caught:
        load_tokenizer(folder)
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
def test_a_vocabulary_of_another_make_is_a_model_error(tmp_path: Path, change: dict[str, object]) -> None:
    stored = {"kind": "words", "lower": False, "digits": False, "tokens": [*SPECIALS, "a"]}
    (tmp_path / "vocab.json").write_text(json.dumps(stored))
    assert load_tokenizer(tmp_path).items == (*SPECIALS, "a")
    (tmp_path / "vocab.json").write_text(json.dumps(stored | change))
    with pytest.raises(ModelError, match=r"vocab\.json: the file is damaged"):
        load_tokenizer(tmp_path)


def test_a_tokenizer_of_another_make_is_a_model_error(tmp_path: Path) -> None:
    tokenizer("bpe").save(tmp_path)
    path = tmp_path / "tokenizer.json"
    path.write_text(path.read_text(encoding="utf-8").replace("<pad>", "[PAD]"), encoding="utf-8")
    with pytest.raises(ModelError, match="numbered from 0, the special ones first"):
        load_tokenizer(tmp_path)


def test_a_folder_with_no_codec_or_with_two_is_a_model_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"vocab\.json: cannot be read"):
        load_tokenizer(tmp_path)
    tokenizer("words").save(tmp_path)
    tokenizer("bpe").save(tmp_path)
    with pytest.raises(ModelError, match="one too many"):
        load_tokenizer(tmp_path)


def test_text_and_metrics_need_no_torch() -> None:
    program = (
        "import sys, elman.metrics, elman.text.tokenizer, elman.text.tables, elman.text.conll\n"
        "import elman.text.files, elman.text.vectors\n"
        "sys.exit('torch' in sys.modules or 'tokenizers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize("kind", TOKEN_KINDS)
@given(text=texts)
def test_every_kind_offers_the_same_pieces(kind: str, text: str) -> None:
    one = tokenizer(kind)
    assert isinstance(one, Tokenizer)
    assert one.kind == kind
    tokens = one.split(text)
    assert one.encode_tokens(tokens) == one.encode(text)
    if one.level in ("byte", "subword"):
        assert one.join(tokens) == text
        assert b"".join(one.token_bytes[i] for i in one.encode(text)) == text.encode()
    assert not any(one.token_bytes[:4])


@pytest.mark.parametrize("kind", ["words", "chars", "bpe"])
def test_what_is_normalized_is_what_is_encoded(kind: str) -> None:
    one = build_tokenizer(TEXTS, kind=kind, lower=True, digits=True, size=300 if kind == "bpe" else None)
    assert one.normalize("The 12") == "the 00"
    assert one.encode("The 12") == one.encode("the 00")


def test_words_are_added_and_taken_away_again_and_subwords_take_none() -> None:
    words = tokenizer("words")
    longer = words.extend(["zebra"])
    assert longer.encode("zebra") == [len(words.items)]
    assert longer.truncate(len(words.items)) == words
    assert tokenizer("bpe").extend(()) is tokenizer("bpe")
    with pytest.raises(ConfigError, match="no further tokens"):
        tokenizer("bpe").extend(["zebra"])


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_pieces_that_are_known_have_their_ids_and_special_ones_none(kind: str) -> None:
    made = tokenizer(kind)
    pieces = made.tokens("the cat")
    assert made.encode_tokens([*pieces, "</s>", "<pad>", "no such piece"]) == [
        *made.encode("the cat"),
        *[UNK] * 3,
    ]


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_many_texts_are_decoded_as_each_by_itself(kind: str) -> None:
    made = tokenizer(kind)
    rows = [made.encode("the cat"), [BOS, *made.encode("a mat"), EOS, PAD], [UNK, *made.encode("dog")], []]
    assert made.decode_all(rows) == [made.decode(row) for row in rows]
    assert made.decode_all(rows)[:2] == ["the cat", "a mat"]


def test_of_subwords_none_can_be_left_out_nor_added() -> None:
    made = tokenizer("bpe")
    assert made.truncate(len(made.items)) is made
    assert made.extend([]) is made
    for size in (len(made.items) - 1, 0):
        with pytest.raises(ConfigError, match=f"not even to {size}"):
            made.truncate(size)
    with pytest.raises(ConfigError, match="no further tokens"):
        made.extend(["new"])


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_subwords_have_room_for_all_bytes_at_least(kind: str) -> None:
    assert len(build_tokenizer(["ab"], kind=kind, size=260).items) == 260
    with pytest.raises(ConfigError, match="a size of 260 or more, 259 is too small"):
        build_tokenizer(["ab"], kind=kind, size=259)
