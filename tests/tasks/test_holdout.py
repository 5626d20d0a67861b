"""What is held out shares no text with what is trained on, and has every label's share."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.errors import DataError
from elman.tasks.classifier.task import Classifier, ClassifierDataConfig
from elman.tasks.config import DataConfig
from elman.tasks.holdout import Split, hold_out, warn_of_overlap
from elman.tasks.pairs.task import Pairs, PairsDataConfig
from elman.tasks.seq2seq.task import Seq2Seq, Seq2SeqDataConfig
from elman.tasks.tagger.task import Tagger, TaggerDataConfig
from elman.text.duplicates import normal_form

Example = tuple[str, tuple[str, ...]]


def split(examples: list[Example], share: float = 0.1) -> Split:
    return hold_out(examples, DataConfig("a.tsv", holdout=share), lambda e: e[0], lambda e: e[1])


def forms(examples: list[Example]) -> set[str]:
    return {normal_form(text) for text, _ in examples}


SPELLINGS = ["The price is 7 euros for each of them", "the  price is 12 EUROS, for each of them!"]


@pytest.mark.parametrize("task", ["classifier", "pairs", "tagger", "seq2seq"])
def test_no_task_validates_on_a_text_that_it_trains_on(tmp_path, task):
    """Every text stands in the file twice."""
    texts = [f"text {chr(97 + i)}{chr(97 + k)}" for i in range(20) for k in range(5)] * 2
    kinds = {
        "classifier": (Classifier, ClassifierDataConfig, "{0}\tlabel-{1}\n"),
        "pairs": (Pairs, PairsDataConfig, "{0}\tother\tlabel-{1}\n"),
        "tagger": (Tagger, TaggerDataConfig, "{0}\tN\n\n"),
        "seq2seq": (Seq2Seq, Seq2SeqDataConfig, "{0}\tanswer {2}\n"),
    }
    kind, config, line = kinds[task]
    path = tmp_path / "twice.tsv"
    path.write_text("".join(line.format(text, i % 5 % 2, i) for i, text in enumerate(texts)))
    training, held = kind.split(config(train=str(path)))
    assert len(held) == 20
    assert not {*map(kind.content, training)} & {*map(kind.content, held)}


def test_of_one_example_none_can_be_held_out_and_of_one_text_none_is():
    with pytest.raises(DataError, match=r"^a\.tsv: too few examples \(1\) to hold any out$"):
        split([("a text", ("x",))])
    with pytest.warns(UserWarning, match="nothing can be held out of 2 examples, 1 of them duplicates"):
        assert not split([("a text", ("x",))] * 2)[1]


@given(
    st.lists(st.tuples(st.sampled_from("abcdefghij"), st.sampled_from("xyz")), min_size=2, max_size=60),
    st.sampled_from([0.1, 0.3, 0.7]),
)
def test_nothing_is_lost_leaks_or_is_held_out_alone(rows, share):
    examples = [(text, (label,)) for text, label in rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        training, held, duplicates = split(examples, share)
        assert split(examples, share) == (training, held, duplicates), "the same every time"
    if not held:
        texts = {text for text, _ in rows}
        labels = Counter(label for text in texts for label in {b for a, b in rows if a == text})
        alone = [min(labels[b] for a, b in rows if a == text) == 1 for text in texts]
        assert all(alone), "each text is the only one with one of its labels"
    assert Counter(training) + Counter(held) == Counter(examples)
    assert not forms(training) & forms(held)
    assert {label for _, label in held} <= {label for _, label in training}
    assert duplicates == len(rows) - len({text for text, _ in rows})


def test_each_label_keeps_its_share_and_a_rare_one_is_trained_on():
    counts = {"common": 400, "seldom": 60, "few": 10, "once": 1}
    examples = [(f"{label} {i}", (label,)) for label, n in counts.items() for i in range(n)]
    held = Counter(label for _, labels in split(examples).held for label in labels)
    assert held == {"common": 40, "seldom": 6, "few": 1}


def test_of_several_labels_each_keeps_its_share():
    rng = np.random.default_rng(1)
    chances = {"a": 0.5, "b": 0.2, "c": 0.05}
    drawn = [tuple(x for x, p in chances.items() if rng.random() < p) for _ in range(1000)]
    examples = [(f"text {i}", labels) for i, labels in enumerate(drawn)]
    parts = examples, split(examples).held
    everywhere, held = (Counter(x for _, some in part for x in some) for part in parts)
    assert all(abs(held[x] - everywhere[x] / 10) < 1.5 for x in chances)


@pytest.mark.parametrize(("count", "share"), [(50, 0.1), (9, 0.1), (200, 0.33)])
def test_without_labels_and_duplicates_the_draw_is_a_permutation(count, share):
    """The split that taggers and translators had before duplicates were looked for."""
    examples = [(f"text {i}", ()) for i in range(count)]
    drawn = np.random.default_rng(0).permutation(count)[: max(1, int(count * share))]
    assert split(examples, share).held == [examples[i] for i in sorted(drawn)]


def test_a_text_that_fills_the_file_is_not_held_out():
    examples = [("n/a", ("x",))] * 900 + [(f"text {i}", ("x",)) for i in range(100)]
    _, held, duplicates = split(examples)
    assert (len(held), duplicates) == (10, 899)
    assert ("n/a", ("x",)) not in held


def test_where_every_text_stands_often_one_is_held_out():
    examples = [(text, (label,)) for text, label in zip("abcdef", "xyxyxy", strict=True)] * 5
    assert len(split(examples).held) == 5


def test_texts_that_are_trained_on_too_are_counted():
    with pytest.warns(UserWarning, match="2 of 3 validation texts also stand in the training data"):
        warn_of_overlap(SPELLINGS, {"validation": ["a b", SPELLINGS[1].upper(), SPELLINGS[0]]})
    with pytest.warns(UserWarning, match="1 of 1 test texts also stands"):
        warn_of_overlap(["a b"], {"validation": ["c"], "test": ["A, b"]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_overlap(["a b"], {"validation": ["a c"], "test": []})


def test_of_trees_whose_phrases_are_trained_on_whole_ones_are_held_out(tmp_path):
    path = tmp_path / "trees.txt"
    path.write_text("".join(f"({i % 2} (0 film) (1 word{chr(97 + i)}))\n" for i in range(20)))
    training, held = Classifier.split(ClassifierDataConfig(train=str(path), format="trees", phrases=True))
    assert [e.text.split()[0] for e in held] == ["film"] * 2
    assert len(training) == 3 * 18
    assert not {e.where for e in training} & {e.where for e in held}


def test_what_is_left_over_goes_to_the_labels_that_lack_the_largest_part_of_one():
    """Of 14, 16 and 10 examples a tenth is 1.4, 1.6 and 1.0: four in all, the second of b."""
    sizes = {"a": 14, "b": 16, "c": 10}
    examples = [(f"word{chr(97 + i)} {name}", (name,)) for name, size in sizes.items() for i in range(size)]
    held = Counter(label for _, (label,) in split(examples).held)
    assert held == {"a": 1, "b": 2, "c": 1}


def test_where_every_text_stands_often_none_with_a_label_of_its_own_is_held_out():
    some = [("one", ("a", "rare"))] * 2 + [("two", ("a",))] * 3 + [("three", ("a",))] * 4
    found = split(some)
    assert found.held == [("two", ("a",))] * 3
    assert found.duplicates == 6
