"""Folds: each example is tested on once, no text is on both sides, every label is in every fold."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.errors import ConfigError, DataError
from elman.tasks.classifier.task import Classifier, ClassifierDataConfig
from elman.tasks.config import DataConfig, TokenizerConfig
from elman.tasks.folds import deal_texts, take_fold
from elman.tasks.language_model.task import LanguageModel, LanguageModelDataConfig
from elman.tasks.seq2seq.task import Seq2Seq, Seq2SeqDataConfig

Example = tuple[str, tuple[str, ...]]


def folds_of(examples: list[Example], folds: int) -> list[list[Example]]:
    found = []
    for number in range(1, folds + 1):
        others, fold = take_fold(
            examples, DataConfig("a.tsv", folds=folds, fold=number), lambda e: e[0], lambda e: e[1]
        )
        assert sorted(others + fold) == sorted(examples)
        found.append(fold)
    return found


@given(st.lists(st.sampled_from([b"a", b"b", b"c", b"d"]), min_size=2), st.integers(2, 5))
def test_equal_texts_are_in_one_fold_and_each_has_others_to_learn_from(texts, folds):
    dealt = deal_texts(texts, folds).tolist()
    assert set(dealt) == {*range(max(dealt) + 1)}
    assert 1 <= max(dealt) < folds
    if len(set(texts)) > 1:
        assert all(
            len({fold for text, fold in zip(texts, dealt, strict=True) if text == one}) == 1 for one in {*texts}
        )


def test_the_folds_of_texts_are_always_the_same():
    texts = [bytes([i]) for i in range(40)]
    found = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        found.append(deal_texts(texts, 5).tolist())
    assert found[0] == found[1]
    assert sorted(Counter(found[0]).values()) == [8] * 5
    assert found[0] != [i % 5 for i in range(40)]


def test_a_text_with_a_label_that_no_other_has_is_in_no_fold_whatever_else_it_has():
    examples = [("one", ("a", "rare")), ("two", ("a",)), ("three", ("a",)), ("four", ("a",))]
    assert sorted(e for fold in folds_of(examples, 2) for e in fold) == sorted(examples[1:])


def test_every_example_is_in_one_fold_and_every_label_has_its_share_of_each():
    examples = [(f"text {chr(97 + i % 26)}{i}x", ("rare",) if i % 12 == 0 else ("often",)) for i in range(120)]
    dealt = folds_of(examples, 5)
    assert sorted(e for fold in dealt for e in fold) == sorted(examples)
    assert [Counter(label for _, (label,) in fold) for fold in dealt] == [{"rare": 2, "often": 22}] * 5


@given(
    st.lists(
        st.tuples(st.sampled_from("abcdefghijkl"), st.lists(st.sampled_from("xyz"), max_size=2, unique=True)),
        min_size=14,
        max_size=40,
    ),
    st.sampled_from([2, 3]),
)
def test_no_text_is_trained_and_tested_on_and_no_label_is_tested_alone(rows, folds):
    examples = [(text, tuple(labels)) for text, labels in rows]
    if len({text for text, _ in examples}) < 10:
        return
    tested: list[Example] = []
    for number in range(1, folds + 1):
        data = DataConfig("a.tsv", folds=folds, fold=number)
        try:
            others, fold = take_fold(examples, data, lambda e: e[0], lambda e: e[1])
        except DataError:
            continue
        assert not {text for text, _ in others} & {text for text, _ in fold}
        assert {label for _, some in fold for label in some} <= {label for _, some in others for label in some}
        tested += fold
    assert len(tested) <= len(examples)


def test_the_only_example_of_a_label_is_in_no_fold():
    examples = [(f"word {chr(97 + i)}", ("a", "b")[i % 2 :][:1]) for i in range(12)] + [("alone", ("once",))]
    assert not any(("alone", ("once",)) in fold for fold in folds_of(examples, 3))


def test_too_many_folds_and_a_fold_that_is_not_there_are_refused():
    examples = [(f"word {chr(97 + i)}", ("a",)) for i in range(3)]
    for number in (1, 4):  # said at the first fold, not after a training of each but the last
        with pytest.raises(
            DataError, match=r"a\.tsv: 4 folds cannot be made of 3 different examples; take fewer"
        ):
            take_fold(examples, DataConfig("a.tsv", folds=4, fold=number), lambda e: e[0], lambda e: e[1])
    alone = [*examples[:1], ("word b", ("b",))]
    with pytest.raises(DataError, match=r"of 2 different examples, of which 2 are in none: no other has their"):
        folds_of(alone, 2)
    with pytest.raises(ConfigError, match="fold is 3, but folds is 2"):
        DataConfig("a.tsv", folds=2, fold=3)
    with pytest.raises(ConfigError, match="folds is 1, which leaves nothing to train on"):
        DataConfig("a.tsv", folds=1)
    with pytest.raises(ConfigError, match="test is given, but with folds a part of train is the test data"):
        DataConfig("a.tsv", folds=2, test="b.tsv")


def test_validation_data_is_held_out_of_what_is_not_the_fold(tmp_path: Path):
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"text {chr(97 + i // 5)}{chr(97 + i % 5)}\tl{i % 2}\n" for i in range(100)))
    parts = Classifier.split_fold(ClassifierDataConfig(train=str(path), folds=4, fold=2))
    training, held, fold = ([e.text for e in part] for part in parts)
    assert (len(fold), len(held), len({*training, *held, *fold})) == (25, 7, 100)


def test_trees_are_in_a_fold_as_a_whole(tmp_path: Path):
    path = tmp_path / "trees.txt"
    path.write_text("".join(f"({i % 2} (0 film{i}) (1 good{chr(97 + i)}))\n" for i in range(20)))
    data = ClassifierDataConfig(train=str(path), format="trees", phrases=True, folds=4, fold=1)
    training, held, fold = Classifier.split_fold(data)
    assert (len(fold), len(training)) == (5, 3 * (20 - 5 - len(held)))
    assert not {e.where for e in training} & {e.where for e in [*held, *fold]}


def test_a_source_with_two_answers_is_one_example_of_a_fold(tmp_path: Path):
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"{chr(97 + i // 2) * 3}\t{i}\n" for i in range(16)))
    data = Seq2SeqDataConfig(train=str(path), holdout=0.3, multi_reference=True, folds=4, fold=1)
    _, _, fold = Seq2Seq.split_fold(data)
    assert [len(e.targets) for e in fold] == [2, 2]


def test_a_fold_of_running_text_is_a_stretch_of_it(tmp_path: Path):
    (tmp_path / "a.txt").write_text("".join(f"{letter}\n" for letter in "abcdefghi"))
    found = []
    for fold in (1, 2, 3):
        data = LanguageModelDataConfig(train=str(tmp_path / "a.txt"), folds=3, fold=fold, holdout=0.0)
        training, held, part = LanguageModel.split_fold(data)
        assert held is None
        found.append(("".join(training.lines()), "".join(part.lines())))
    assert found == [("defghi", "abc"), ("abcghi", "def"), ("abcdef", "ghi")]
    with pytest.raises(DataError, match=r"a\.txt: 10 folds cannot be made of 9 lines; take fewer"):
        LanguageModel.split_fold(LanguageModelDataConfig(train=str(tmp_path / "a.txt"), folds=10))
    assert TokenizerConfig().learn(training.lines()).items[4:] == tuple("abcdef")
