"""Texts in a file of ids: what stands there, when it is made again, what it costs."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.errors import DataError
from elman.text.corpus_cache import CorpusCache, TextCounts
from elman.text.line_encoder import id_dtype, make_encoder
from elman.text.tokenizer import TOKEN_KINDS, Tokenizer, build_tokenizer
from elman.text.vocab import EOS, UNK

TEXT = ["The cat sat", "", "on the mät 👍🏽 12"]
some_lines = st.lists(st.text(st.characters(exclude_characters="\n\r")), max_size=5)


def tokenizer(kind: str, *, fold: bool = False) -> Tokenizer:
    size = 300 if kind in ("bpe", "unigram") else None
    return build_tokenizer([*TEXT, "\n"], kind=kind, size=size, lower=fold, digits=fold)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(TEXT), encoding="utf-8")
    return path


@pytest.fixture
def cache(tmp_path: Path, source: Path) -> CorpusCache:
    return CorpusCache([source], tokenizer("words"), tmp_path / "cache")


def built(cache: CorpusCache) -> bool:
    """Whether opening now encodes the text."""
    return bool(list(cache.build()))


@pytest.mark.parametrize("kind", sorted(set(TOKEN_KINDS) - {"chars+features"}))  # which reads single lines
@pytest.mark.parametrize("newlines", [False, True])
def test_a_corpus_is_its_lines_one_after_the_other(
    tmp_path: Path, source: Path, kind: str, newlines: bool
) -> None:
    one = tokenizer(kind)
    ids = CorpusCache([source, source], one, tmp_path / "cache", newlines=newlines).open().ids
    ends = [] if newlines else [EOS]
    each = [[*one.encode(line + "\n" * newlines), *ends] for line in TEXT]
    assert ids.tolist() == [i for ids in each for i in ids] * 2
    assert ids.dtype == "<u2"


@pytest.mark.parametrize("kind", ["chars", "bytes"])
@pytest.mark.parametrize("newlines", [False, True])
@pytest.mark.parametrize("fold", [False, True])
@given(texts=some_lines)
def test_the_table_of_units_agrees_with_the_codec(
    kind: str, newlines: bool, fold: bool, texts: list[str]
) -> None:
    one = tokenizer(kind, fold=fold)
    expected: list[int] = []
    for text in texts:
        expected += one.encode(text + "\n") if newlines else [*one.encode(text), EOS]
    assert make_encoder(one, newlines=newlines)(texts).tolist() == expected


def test_characters_without_an_id_are_unknown(tmp_path: Path, source: Path) -> None:
    source.write_text("cat Ω𝄞\n", encoding="utf-8")
    ids = CorpusCache([source], tokenizer("chars"), tmp_path).open().ids.tolist()
    assert ids[-3:] == [UNK, UNK, EOS]
    assert UNK not in ids[:-3]


def test_the_end_of_a_line_counts_as_a_character(cache: CorpusCache) -> None:
    text = "\n".join(TEXT) + "\n"
    words = sum(len(cache.tokenizer.encode(line)) for line in TEXT)
    assert cache.open().counts == TextCounts(words + 3, 3, len(text), len(text.encode()))


def test_ids_take_four_bytes_only_where_two_are_too_few() -> None:
    assert id_dtype(65536) == np.dtype("<u2")
    assert id_dtype(65537) == np.dtype("<u4")


def test_a_text_is_encoded_once(cache: CorpusCache) -> None:
    assert built(cache)
    assert not built(cache)
    assert not built(CorpusCache(cache.sources, tokenizer("words"), cache.folder))


def test_ids_are_mapped_and_cannot_be_changed(cache: CorpusCache) -> None:
    ids = cache.open().ids
    assert isinstance(ids, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        ids[0] = 1


@pytest.mark.parametrize(
    "change",
    [
        {"tokenizer": tokenizer("chars")},
        {"tokenizer": tokenizer("words", fold=True)},
        {"newlines": True},
        {"encoding": "latin-1"},
    ],
)
def test_other_settings_are_another_corpus_beside_the_first(cache: CorpusCache, change: dict) -> None:
    cache.open()
    settings = {"tokenizer": cache.tokenizer, **change}
    assert built(CorpusCache(cache.sources, folder=cache.folder, **settings))
    assert not built(cache)


def test_a_changed_text_takes_the_place_of_the_old(cache: CorpusCache, source: Path) -> None:
    cache.open()
    source.write_text("The cat\n", encoding="utf-8")
    assert cache.open().ids.tolist() == [*cache.tokenizer.encode("The cat"), EOS]
    assert len(list(cache.folder.iterdir())) == 2


def test_a_touched_text_is_the_same_text(cache: CorpusCache, source: Path) -> None:
    cache.open()
    os.utime(source, ns=(0, 0))
    assert not built(cache)


def test_another_text_of_the_same_size_and_time_is_encoded_again(cache: CorpusCache, source: Path) -> None:
    os.utime(source, ns=(0, 0))
    cache.open()
    source.write_text("\n".join(TEXT).replace("cat", "sat"), encoding="utf-8")
    os.utime(source, ns=(0, 0))
    assert built(cache)


@pytest.mark.parametrize("place", [0, 1, 500_000, 999_999])
def test_a_flipped_bit_anywhere_in_the_ids_is_seen(tmp_path: Path, source: Path, place: int) -> None:
    source.write_text("cat sat " * 250_000 + "\n")
    cache = CorpusCache([source], tokenizer("words"), tmp_path / "cache")
    before = cache.open().ids.tolist()
    (path,) = cache.folder.glob("*.ids")
    with path.open("r+b") as file:
        file.seek(place)
        (byte,) = file.read(1)
        file.seek(place)
        file.write(bytes([byte ^ 1]))
    assert built(cache)
    assert cache.open().ids.tolist() == before


def test_ids_that_the_tokenizer_does_not_have_are_not_taken(cache: CorpusCache) -> None:
    before = cache.open().ids.tolist()
    (path,), (header,) = cache.folder.glob("*.ids"), cache.folder.glob("*.json")
    path.write_bytes(np.full(len(before), len(cache.tokenizer.items), "<u2").tobytes())
    signed = json.loads(header.read_text()) | {"check": sha256(path.read_bytes()).hexdigest()}
    header.write_text(json.dumps(signed))
    assert built(cache)
    assert cache.open().ids.tolist() == before


def damage_ids(folder: Path) -> None:
    (path,) = folder.glob("*.ids")
    content = bytearray(path.read_bytes())
    content[3] ^= 255
    path.write_bytes(content)


def shorten_ids(folder: Path) -> None:
    (path,) = folder.glob("*.ids")
    path.write_bytes(path.read_bytes()[:-2])


def remove_ids(folder: Path) -> None:
    next(folder.glob("*.ids")).unlink()


def remove_header(folder: Path) -> None:
    next(folder.glob("*.json")).unlink()


def shorten_header(folder: Path) -> None:
    (path,) = folder.glob("*.json")
    path.write_bytes(path.read_bytes()[:50])


def empty_header(folder: Path) -> None:
    next(folder.glob("*.json")).write_text("[]")


def change_counts(folder: Path) -> None:
    (path,) = folder.glob("*.json")
    header = json.loads(path.read_text())
    header["counts"]["tokens"] += 1
    path.write_text(json.dumps(header))


@pytest.mark.parametrize(
    "damage", [damage_ids, shorten_ids, remove_ids, remove_header, shorten_header, empty_header, change_counts]
)
def test_a_damaged_cache_is_made_again(cache: CorpusCache, damage) -> None:
    before = cache.open().ids.tolist()
    damage(cache.folder)
    assert built(cache)
    assert cache.open().ids.tolist() == before


def test_an_interrupted_build_leaves_nothing_and_is_begun_again(
    cache: CorpusCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("elman.text.corpus_cache.BLOCK", 4)
    building = cache.build()
    next(building)
    building.close()
    assert not list(cache.folder.iterdir())
    assert built(cache)


def test_progress_grows_to_the_whole(cache: CorpusCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elman.text.corpus_cache.BLOCK", 4)
    steps = list(cache.build())
    sizes = [step.counts.bytes for step in steps]
    assert sizes == sorted(set(sizes))
    assert len(steps) > 1
    assert steps[-1].counts == cache.open().counts
    assert steps[-1].total == steps[-1].counts.bytes - 1  # the last line has no newline


def test_a_compressed_text_is_the_same_corpus_with_unknown_size(cache: CorpusCache, source: Path) -> None:
    packed = source.with_suffix(".txt.gz")
    packed.write_bytes(gzip.compress(source.read_bytes()))
    other = CorpusCache([packed], cache.tokenizer, cache.folder)
    assert {step.total for step in other.build()} == {None}
    assert other.open().ids.tolist() == cache.open().ids.tolist()


@pytest.mark.parametrize(("name", "said"), [("-", "must be a file"), ("none.txt", "none.txt: cannot be read")])
def test_what_cannot_be_a_corpus_is_said(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        CorpusCache([name], tokenizer("words"), tmp_path).open()


def test_a_text_without_tokens_is_no_corpus(tmp_path: Path, source: Path) -> None:
    source.write_text(" \n \n")
    with pytest.raises(DataError, match=r"text\.txt: there are no tokens"):
        CorpusCache([source], tokenizer("words"), tmp_path, newlines=True).open()


MEMORY = """
import resource, sys
from pathlib import Path
from elman.text.tokenizer import build_tokenizer
from elman.text.corpus_cache import CorpusCache
folder = Path(sys.argv[1])
cache = CorpusCache([folder / "large.txt"], build_tokenizer(["a b"], kind=sys.argv[2]), folder / "cache")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
tokens = len(cache.open().ids)
print(tokens, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of a process as Linux counts")
@pytest.mark.parametrize(("kind", "tokens"), [("chars", 12_000_000), ("whitespace", 7_000_000)])
def test_memory_does_not_grow_with_the_text(tmp_path: Path, kind: str, tokens: int) -> None:
    (tmp_path / "large.txt").write_text("a b c d e f\n" * 1_000_000)
    command = [sys.executable, "-c", MEMORY, str(tmp_path), kind]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    count, kilobytes = map(int, run.stdout.split())
    assert count == tokens
    assert kilobytes < 100_000
