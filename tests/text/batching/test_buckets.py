from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.text.batching import BucketBatches, bucket_batches, pad

lengths = st.lists(st.integers(0, 60), max_size=200)


@given(st.lists(st.lists(st.integers(0, 9), max_size=6), min_size=1, max_size=6))
def test_padding_keeps_every_row_and_the_mask_says_where(rows: list[list[int]]) -> None:
    ids, mask = pad(rows)
    assert ids.dtype == torch.int64
    assert mask.dtype == torch.bool
    assert ids.shape == mask.shape == (len(rows), max(map(len, rows)))
    assert [ids[b][mask[b]].tolist() for b in range(len(rows))] == rows
    assert mask.sum(1).tolist() == [len(row) for row in rows]
    assert not ids[~mask].any()
    assert (mask.int().diff(dim=1) <= 0).all()  # real tokens first


def test_no_rows_make_an_empty_rectangle() -> None:
    assert pad([]).ids.shape == (0, 0)


@given(lengths, st.integers(1, 300), st.integers(0, 9), st.integers(0, 9))
def test_every_example_is_in_one_batch_and_batches_keep_the_budget(
    sizes: list[int], tokens: int, seed: int, epoch: int
) -> None:
    made = bucket_batches(sizes, tokens=tokens, seed=seed, epoch=epoch)
    assert sorted(i for batch in made for i in batch) == list(range(len(sizes)))
    assert all(made)
    for batch in made:
        longest = max(sizes[i] for i in batch)
        assert len(batch) == 1 or len(batch) * longest <= tokens
    assert made == bucket_batches(sizes, tokens=tokens, seed=seed, epoch=epoch)


def test_what_is_empty_counts_as_one_token() -> None:
    assert sorted(map(len, bucket_batches([0] * 25, tokens=10, seed=0, epoch=0))) == [5, 10, 10]
    assert sorted(map(len, bucket_batches([(0, 0)] * 25, tokens=10, seed=0, epoch=0))) == [5] * 5


def mixed(count: int) -> list[int]:
    drawn = np.random.default_rng(0).lognormal(3.0, 0.8, count)
    return [max(int(length), 1) for length in drawn]


def test_padding_wastes_less_than_a_tenth_on_mixed_lengths() -> None:
    sizes = mixed(10_000)
    for seed in range(3):
        made = bucket_batches(sizes, tokens=4096, seed=seed, epoch=0)
        padded = sum(len(batch) * max(sizes[i] for i in batch) for batch in made)
        assert 1 - sum(sizes) / padded < 0.1


def test_batches_are_nearly_full() -> None:
    sizes = mixed(10_000)
    made = bucket_batches(sizes, tokens=4096, seed=0, epoch=0)
    assert len(made) < 1.2 * sum(sizes) / 4096


def test_each_epoch_brings_other_companions_and_another_order() -> None:
    sizes = mixed(5_000)
    first, second = (bucket_batches(sizes, tokens=2048, seed=3, epoch=epoch) for epoch in (0, 1))
    assert not {frozenset(b) for b in first} & {frozenset(b) for b in second if len(b) > 2}
    assert bucket_batches(sizes, tokens=2048, seed=4, epoch=0) != first


def test_long_and_short_batches_are_mixed() -> None:
    sizes = mixed(10_000)
    made = bucket_batches(sizes, tokens=4096, seed=0, epoch=0)
    longest = [max(sizes[i] for i in batch) for batch in made]
    correlation = np.corrcoef(np.arange(len(made)), longest)[0, 1]
    assert abs(correlation) < 0.3


class Rows(list[tuple[int, ...]]):
    """Examples, each known by its lengths."""

    @property
    def lengths(self) -> list[tuple[int, ...]]:
        return self

    def pick(self, index: Iterable[int]) -> Rows:
        return Rows(self[i] for i in index)


@pytest.mark.parametrize(
    ("lengths", "tokens", "most"),
    [
        ([], 9, (0, 0)),
        ([(3,), (5,), (1,)], 9, (9, 5)),
        ([(3,), (5,), (1,)], 4, (5, 5)),  # a long example is a batch of its own
        ([(3,), (5,), (1,)], 100, (15, 5)),  # three of five tokens, padding included
        ([(3, 4), (1, 5)], 100, (16, 5)),  # first sides of three tokens beside second ones of five
        ([(3, 4), (1, 5)], 6, (7, 5)),
    ],
)
def test_no_batch_is_larger_than_the_largest(
    lengths: list[tuple[int, ...]], tokens: int, most: tuple[int, int]
) -> None:
    batches = BucketBatches(Rows(lengths), tokens, seed=0, weigh=len)
    assert batches.largest == most
    for batch in batches(0, 0):
        assert sum(len(batch) * longest for longest in map(max, zip(*batch, strict=True))) <= most[0]


def test_processes_share_each_batch_and_an_epoch_can_begin_within() -> None:
    rows = Rows((i % 7 + 1,) for i in range(50))
    batches = BucketBatches(rows, 20, seed=3, weigh=len)
    every = [*batches(1, 0)]
    assert [*batches(1, 2)] == every[2:]
    assert batches.count(1) == len(every)
    assert [*batches(0, 0)] != every == [*BucketBatches(rows, 20, seed=3, weigh=len)(1, 0)]
    batch = max(every, key=len)
    shares = [batches.shard(batch, rank, 3) for rank in range(3)]
    assert sorted(one for share in shares for one in share) == sorted(batch)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1
