"""Pairs: what a siamese network computes, by laws; and how pairs are read."""

import json
from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.cells import CELLS
from elman.errors import ConfigError, DataError
from elman.tasks.base import PredictOptions
from elman.tasks.pairs.data import split_line
from elman.tasks.pairs.network import PairDropout, join
from elman.tasks.pairs.task import Pairs, PairsConfig, PairsDataConfig, PairsExample, read_examples
from elman.tasks.word_batch import collate
from tests.tasks.meetings import examples, fresh

PAIRS = [
    ("when", "the city of the river"),
    ("is a year", "when"),
    ("", "in the town"),
    ("was in the town of a river in a month", "is a year"),
    ("x", ""),
]
BOTH = pytest.mark.parametrize("attention", ["none", "soft"])


def chances(model: Pairs, pairs: list[tuple[str, str]]) -> torch.Tensor:
    names = model.labels.items
    return torch.tensor([[p.probabilities[name] for name in names] for p in model.classify(pairs)])


def sentences(model: Pairs, pairs: list[tuple[str, str]]) -> tuple[torch.Tensor, torch.Tensor]:
    """u and v of some pairs."""
    data = model.encode([PairsExample(*pair, "same") for pair in pairs])
    words = collate([text for side in zip(*data.rows, strict=True) for text in side], data.forms)
    return model.net.sentences(model.net.words(words), words.mask)


@BOTH
def test_swapping_the_texts_swaps_u_and_v_and_leaves_their_difference_and_product(attention):
    model = fresh(attention=attention)
    u, v = sentences(model, PAIRS)
    second, first = sentences(model, [(b, a) for a, b in PAIRS])
    torch.testing.assert_close(u, first, rtol=0, atol=1e-6)
    torch.testing.assert_close(v, second, rtol=0, atol=1e-6)
    there, back = (join(a, b).chunk(4, -1) for a, b in ((u, v), (second, first)))
    torch.testing.assert_close(there[2:], back[2:], rtol=0, atol=1e-6)
    assert not torch.allclose(there[0], back[0])


def test_the_decision_sees_both_texts_their_difference_and_their_product():
    u, v = torch.tensor([[1.0, -2.0]]), torch.tensor([[3.0, 5.0]])
    assert join(u, v).tolist() == [[1, -2, 3, 5, 2, 7, 3, -10]]


@BOTH
def test_equal_texts_stay_equal_whatever_is_dropped(attention):
    model = fresh(attention=attention, dropout=0.5)
    model.net.train()
    twice = [(text, text) for text, _ in PAIRS]
    u, v = sentences(model, twice)
    torch.testing.assert_close(u, v, rtol=0, atol=1e-6)
    assert not torch.allclose(u, sentences(model, twice)[0], atol=1e-3)


def test_dropout_drops_the_same_features_of_both_texts_at_every_position():
    drop, xs = PairDropout(0.5), torch.ones(6, 4, 50)
    kept = drop(xs) != 0
    assert torch.equal(kept[:3], kept[3:])
    assert (kept == kept[:, :1]).all()
    assert not torch.equal(kept[0], kept[1])
    torch.testing.assert_close(drop(torch.ones(2000, 1, 50)).mean(), torch.tensor(1.0), rtol=0.02, atol=0)
    assert torch.equal(drop.eval()(xs), xs)


@BOTH
def test_one_by_one_is_all_together(attention):
    model = fresh(attention=attention)
    together = chances(model, PAIRS)
    alone = torch.cat([chances(model, [pair]) for pair in PAIRS])
    torch.testing.assert_close(together, alone, rtol=0, atol=1e-6)
    assert torch.isfinite(together).all()


@BOTH
@given(tails=st.tuples(*[st.lists(st.integers(1, 9), min_size=3, max_size=3)] * 2))
def test_padding_is_inert(attention, tails):
    torch.manual_seed(0)
    model = fresh(attention=attention)
    _, forms = model.featurizer.texts(["when the city of a river is in a year"])
    texts = [4, 7, 5], [3, 6]
    short = collate([np.array(text, np.int32) for text in texts], forms)
    long = [np.array([*text, *tail], np.int32) for text, tail in zip(texts, tails, strict=True)]
    mask = torch.arange(6) < torch.tensor([[3], [2]])
    masked = collate([row[:5] for row in long], forms)._replace(mask=mask[:, :5])
    torch.testing.assert_close(model.net(masked), model.net(short), rtol=0, atol=1e-6)


def test_attention_is_a_distribution_over_the_words_of_the_other_text():
    compare = fresh(attention="soft").net.compare
    zs, mask = (torch.randn(4, 5, compare.project.in_features // 4), torch.ones(4, 5, dtype=torch.bool))
    mask[0, 3:], mask[2, 1:], mask[3] = (False, False, False)  # rows 0 and 2 are a pair, so are 1 and 3
    aligned, weights = compare.align(zs, mask)
    assert (weights >= 0).all()
    for row, other in ((0, 2), (1, 3), (2, 0), (3, 1)):
        assert not weights[row][:, ~mask[other]].any()
        real = torch.full((5,), float(mask[other].any()))
        torch.testing.assert_close(weights[row].sum(-1), real)
    size = compare.attend.score.size
    x, others = zs[2, 0, :size], zs[0, :3, :size]
    cosines = others @ x / others.norm(dim=-1) / x.norm()
    by_hand = (compare.attend.score.tau * cosines).softmax(-1) @ zs[0, :3]
    torch.testing.assert_close(aligned[2, 0], by_hand)


def test_before_anything_is_learnt_a_word_is_aligned_to_itself():
    model = fresh(attention="soft")
    data = model.encode([PairsExample("when the city is", "is the river when", "same")])
    words = collate(list(data.rows[0]), data.forms)
    alpha = model.net.alignment(model.net.words(words), words.mask)[0]
    assert alpha.argmax(-1)[[0, 1, 3]].tolist() == [3, 1, 0]
    assert (alpha.max(-1).values[[0, 1, 3]] > 0.9).all()


@BOTH
def test_the_loss_reaches_every_weight(attention):
    model = fresh(attention=attention)
    model.loss(model.encode(examples(30)), 0.0).backward()
    assert all(p.grad is not None and p.grad.any() for p in model.net.parameters())


@BOTH
def test_whether_two_texts_have_one_topic_is_learnt(attention):
    torch.manual_seed(1)
    model = fresh(attention=attention)
    data = model.encode(examples(400))
    optimizer = torch.optim.Adam(model.net.parameters(), 0.02)
    model.net.train()
    for _ in range(60):
        loss = model.loss(data, 0.0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert model.evaluate_dataset(model.encode(examples(80, seed=5)))["accuracy"] > 95


@BOTH
@pytest.mark.parametrize("cell", CELLS)
def test_every_cell_reads_pairs(cell, attention):
    model = fresh(cell=cell, attention=attention)
    assert torch.allclose(chances(model, PAIRS).sum(1), torch.ones(len(PAIRS)))


@pytest.mark.parametrize("pool", ["last", "mean", "max", "mean+max", "attention"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_every_pooling_sums_up_pairs(pool, bidirectional):
    model = fresh(pool=pool, bidirectional=bidirectional, layers=2)
    assert torch.allclose(chances(model, PAIRS).sum(1), torch.ones(len(PAIRS)))


def test_evaluate_counts_what_classify_gets_right():
    model, some = fresh(), examples(20, seed=3)
    guessed = model.classify((e.first, e.second) for e in some)
    right = [p.label == e.label for p, e in zip(guessed, some, strict=True)]
    scores = model.evaluate_dataset(model.encode(some))
    assert scores["accuracy"] == pytest.approx(100 * sum(right) / len(right))
    assert scores["examples"] == 20


def write(tmp_path, name: str, text: str) -> str:
    path = tmp_path / name
    path.write_text(text)
    return str(path)


ROWS = [("a b", "c", "yes"), ("d", "e, f", "no")]


def test_a_table_may_be_tsv_csv_or_jsonl_with_a_header_or_without(tmp_path):
    tsv = "".join("\t".join(row) + "\n" for row in ROWS)
    objects = [dict(zip(("first", "second", "label"), row, strict=True)) for row in ROWS]
    cells = [("second", "label", "first"), *((b, label, a) for a, b, label in ROWS)]
    csv = "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in cells)
    files = [
        write(tmp_path, "plain.tsv", tsv),
        write(tmp_path, "header.tsv", "first\tsecond\tlabel\n" + tsv),
        write(tmp_path, "a.jsonl", "".join(json.dumps(row) + "\n" for row in objects)),
        write(tmp_path, "a.csv", csv),
    ]
    for file in files:
        assert [tuple(e)[:3] for e in read_examples(PairsDataConfig(), file, train=True)] == ROWS


def test_columns_are_named_or_numbered_and_labels_renamed(tmp_path):
    file = write(tmp_path, "a.tsv", "1\tq\tp:x\n0\ts\tr\n7\tu\tt\n")
    data = PairsDataConfig(first="3", second="2", label="1", labels={"1": "yes", "0": "no"})
    assert [tuple(e)[:3] for e in read_examples(data, file)] == [("p:x", "q", "yes"), ("r", "s", "no")]
    named = write(tmp_path, "b.tsv", "q1\tq2\tdup\nx\ty\t1\n")
    data = PairsDataConfig(first="q1", second="q2", label="dup")
    assert list(read_examples(data, named)) == [PairsExample("x", "y", "1", f"{named}:2")]


def test_pairs_may_be_three_files(tmp_path):
    files = tuple(write(tmp_path, name, text) for name, text in (("a", "x\n"), ("b", "y z\n"), ("c", "no\n")))
    assert [tuple(e)[:3] for e in read_examples(PairsDataConfig(), files)] == [("x", "y z", "no")]
    with pytest.raises(ConfigError, match="not in 2"):
        list(read_examples(PairsDataConfig(), files[:2]))


def test_a_first_line_with_a_label_of_its_own_is_suspected_to_name_the_columns(tmp_path):
    rows = "".join(f"{e.first}\t{e.second}\t{e.label}\n" for e in examples(100))
    path = write(tmp_path, "a.tsv", f"one\ttwo\tkind\n{rows}")
    with pytest.warns(UserWarning, match=r"a\.tsv:1: .* first='one', second='two' and label='kind'"):
        list(read_examples(PairsDataConfig(), path, train=True))


def test_a_row_with_a_text_too_few_is_named(tmp_path):
    path = write(tmp_path, "a.tsv", "first\tsecond\tlabel\na\tb\tyes\nc\tno\n")
    with pytest.raises(DataError, match=r"a\.tsv:3: expected 3 columns, found 2"):
        list(read_examples(PairsDataConfig(), path))


def test_settings_that_cannot_be_are_refused():
    with pytest.raises(ConfigError, match="hidden is 0"):
        PairsConfig(attention="soft", hidden=0)


def test_a_line_is_two_texts_with_a_tab_between_them():
    assert split_line("a b\tc") == ("a b", "c")
    for line in ("a b", "a\tb\tc", "a\t "):
        with pytest.raises(DataError, match="expected two texts with a tab between them"):
            split_line(line)


def test_below_the_threshold_a_pair_has_the_other_label():
    model = fresh()
    (plain,) = model.classify(PAIRS[:1])
    sure = plain.confidence
    assert model.classify(PAIRS[:1], threshold=sure - 0.01, otherwise="none") == [plain]
    (withheld,) = model.classify(PAIRS[:1], threshold=sure + 0.01, otherwise="none")
    assert (withheld.label, withheld.probabilities) == ("none", plain.probabilities)


def test_a_file_of_pairs_is_answered_line_by_line_and_what_is_wrong_is_named(tmp_path):
    model, path, whole = fresh(), tmp_path / "a.txt", [pair for pair in PAIRS if all(pair)]
    path.write_text("".join(f"{a}\t{b}\n" for a, b in whole))
    options = PredictOptions(lambda lines: batched(lines, 2))
    found = [answer.line for answer in model.predict_file(str(path), options)]
    assert found == [p.label for p in model.classify(whole)]
    path.write_text("a\tb\nc\td\nno tab\n")
    with pytest.raises(DataError, match=r"a\.txt:3: "):
        list(model.predict_file(str(path), options))
    path.write_text("a\tb\nc\td\n" + "x " * 100_001 + "\ty\n")
    with pytest.raises(DataError, match=r"a\.txt:3: "):
        list(model.predict_file(str(path), options))


def batched(lines: Iterable[str], size: int) -> Iterator[list[str]]:
    lines = iter(lines)
    while some := list(islice(lines, size)):
        yield some
