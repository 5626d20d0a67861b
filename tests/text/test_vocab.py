from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.errors import ConfigError, DataError, ModelError
from elman.text.vocab import BOS, EOS, PAD, SPECIALS, UNK, Labels, Vocab

tokens = st.lists(st.sampled_from([*"abcdefg", *SPECIALS]), min_size=1)


def test_the_specials_come_first_and_padding_is_zero() -> None:
    assert Vocab.build(["x"]).items == ("<pad>", "<unk>", "<s>", "</s>", "x")
    assert (PAD, UNK, BOS, EOS) == (0, 1, 2, 3)


def test_frequent_tokens_come_first_and_equals_by_their_text() -> None:
    assert Vocab.build(["b", "c", "a", "c", "b", "d"]).items[4:] == ("b", "c", "a", "d")


@given(tokens.filter(lambda t: set(t) - set(SPECIALS)), st.randoms())
def test_the_order_of_the_data_does_not_matter(data: list[str], random: object) -> None:
    shuffled = list(data)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert Vocab.build(shuffled) == Vocab.build(data)


@given(tokens, st.integers(1, 3), st.integers(5, 8) | st.none())
def test_min_count_and_size_keep_the_most_frequent(data: list[str], min_count: int, size: int | None) -> None:
    counts = Counter(t for t in data if t not in SPECIALS)
    if max(counts.values(), default=0) < min_count:
        with pytest.raises(DataError, match=f"no token occurs at least {min_count} times"):
            Vocab.build(data, min_count=min_count, size=size)
        return
    vocab = Vocab.build(data, min_count=min_count, size=size)
    kept, dropped = vocab.items[4:], counts.keys() - set(vocab.items)
    assert len(vocab) <= (size or len(vocab))
    assert all(counts[t] >= min_count for t in kept)
    if len(vocab) != size:
        assert all(counts[t] < min_count for t in dropped)
    assert all(counts[d] <= counts[k] for d in dropped for k in kept)


@given(tokens)
def test_known_tokens_come_back_and_no_text_can_spell_a_special_one(data: list[str]) -> None:
    vocab = Vocab((*SPECIALS, "a", "b", "c"))
    ids = vocab.encode(data)
    assert vocab.decode(ids) == [t if t in ("a", "b", "c") else "<unk>" for t in data]
    assert not {PAD, BOS, EOS} & set(ids)


def test_a_vocabulary_of_specials_only_is_refused() -> None:
    with pytest.raises(ConfigError, match="size 4"):
        Vocab.build(["a"], size=4)


def test_labels_have_no_specials_and_know_their_ids() -> None:
    labels = Labels.build(["neg", "pos", "pos", "<unk>"])
    assert labels.items == ("pos", "<unk>", "neg")
    assert [labels.id(label) for label in labels.items] == [0, 1, 2]


def test_an_unknown_label_is_named_with_its_place_and_the_known_ones() -> None:
    labels = Labels(("pos", "neg"))
    message = r"^b\.tsv:7: unknown label 'meh'; known are 'pos', 'neg'$"
    with pytest.raises(DataError, match=message):
        labels.id("meh", "b.tsv:7")
    with pytest.raises(DataError, match=r"'l29' and 10 more$"):
        Labels(tuple(f"l{i}" for i in range(40))).id("meh")


def test_data_without_labels_is_an_error() -> None:
    with pytest.raises(DataError, match="no labels"):
        Labels.build([])


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, unique=True))
def test_labels_come_back_from_their_file(tmp_path_factory: pytest.TempPathFactory, items: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "labels.json"
    Labels(tuple(items)).save(path)
    assert Labels.load(path) == Labels(tuple(items))


@pytest.mark.parametrize("content", ["", "[]", '["a", "a"]', '["a", 1]', '{"a": 1}', "[" * 99_999])
def test_a_damaged_labels_file_is_a_model_error(tmp_path: Path, content: str) -> None:
    path = tmp_path / "labels.json"
    with pytest.raises(ModelError, match="cannot be read"):
        Labels.load(path)
    path.write_text(content)
    with pytest.raises(ModelError, match=r"labels\.json: the file is damaged"):
        Labels.load(path)
