"""Windows of parallel streams: every token once, in order, wherever one begins."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.errors import ConfigError, DataError
from elman.text.batching import BPTTWindow, BPTTWindows

FIRST = 1000  # what stands before the first token; ids below are all different and smaller

streams = st.builds(
    lambda count, batch, **settings: BPTTWindows(
        np.arange(1, count + 1, dtype="<u2"), min(batch, count), first=FIRST, **settings
    ),
    count=st.integers(1, 200),
    batch=st.integers(1, 7),
    bptt=st.integers(1, 40),
    bptt_std=st.sampled_from([0.0, 1.0, 5.0]),
    rotate=st.booleans(),
    seed=st.integers(0, 99),
)


def predictions(windows: list[BPTTWindow]) -> list[tuple[int, int]]:
    return [pair for w in windows for pair in zip(w.ids[w.mask], w.targets[w.mask], strict=True)]


@given(one=streams, epoch=st.integers(0, 3))
def test_every_token_is_predicted_once_from_the_one_before_it(one: BPTTWindows, epoch: int) -> None:
    text = one.ids.tolist()
    expected = zip([FIRST, *text[:-1]], text, strict=True)
    assert Counter(predictions(list(one(epoch)))) == Counter(expected)


@given(one=streams, epoch=st.integers(0, 3))
def test_each_row_runs_on_from_window_to_window(one: BPTTWindows, epoch: int) -> None:
    windows = list(one(epoch))
    for b in range(one.streams):
        row = np.concatenate([w.ids[b][w.mask[b]] for w in windows])
        targets = np.concatenate([w.targets[b][w.mask[b]] for w in windows])
        inner = row[1:] != FIRST  # where a rotated text begins anew
        assert (row[1:][inner] == targets[:-1][inner]).all()


@given(one=streams, epoch=st.integers(0, 3))
def test_ends_come_last(one: BPTTWindows, epoch: int) -> None:
    mask = np.concatenate([w.mask for w in one(epoch)], axis=1)
    assert (mask[:, :-1] >= mask[:, 1:]).all()
    lengths = mask.sum(1)
    assert lengths.max() - lengths.min() <= 1


@given(one=streams, epoch=st.integers(0, 3), data=st.data())
def test_a_window_is_found_without_those_before_it(one: BPTTWindows, epoch: int, data) -> None:
    windows = list(one(epoch))
    assert len(windows) == one.count(epoch)
    start = data.draw(st.integers(0, len(windows)))
    for rest in (list(one(epoch, start)), [one.window(i, epoch) for i in range(len(windows))][start:]):
        for resumed, window in zip(rest, windows[start:], strict=True):
            assert all(map(np.array_equal, resumed, window))


def test_one_row_is_the_text_in_order() -> None:
    text = np.arange(1, 24)
    windows = list(BPTTWindows(text, 1, 5, first=FIRST)())
    assert predictions(windows) == list(zip([FIRST, *text[:-1]], text, strict=True))


def test_windows_of_fixed_length_have_one_shape() -> None:
    shapes = {w.ids.shape for w in BPTTWindows(np.arange(101), 4, 7)()}
    assert shapes == {(4, 7)}


def test_ids_are_of_the_type_that_networks_take() -> None:
    window = BPTTWindows(np.arange(9, dtype="<u2"), 2, 3).window(0)
    assert window.ids.dtype == window.targets.dtype == np.int64
    assert window.mask.dtype == bool


def test_random_lengths_are_those_of_merity_and_others() -> None:
    """70 with probability .95, else 35, with a deviation of 5."""
    drawn = BPTTWindows(np.zeros(2_000_000, np.uint16), 1, 70, bptt_std=5.0, seed=3)
    lengths = np.diff(drawn._starts(0))[:-1]
    long = lengths[lengths > 52]
    assert len(long) / len(lengths) == pytest.approx(0.95, abs=0.01)
    assert long.mean() == pytest.approx(69.5, abs=0.2)  # cut to whole numbers
    assert long.std() == pytest.approx(5, abs=0.2)
    assert lengths[lengths <= 52].mean() == pytest.approx(34.5, abs=0.5)


@pytest.mark.parametrize("settings", [{"bptt_std": 5.0}, {"rotate": True}])
def test_epochs_differ_and_a_seed_repeats_them(settings: dict) -> None:
    text = np.arange(1, 5000)
    one, same = (BPTTWindows(text, 2, 20, seed=1, **settings), BPTTWindows(text, 2, 20, seed=1, **settings))
    other = BPTTWindows(text, 2, 20, seed=2, **settings)

    def third(streams: BPTTWindows, epoch: int) -> list[list[int]]:
        return streams.window(3, epoch).ids.tolist()

    assert third(one, 0) == third(same, 0)
    assert third(one, 0) != third(one, 1)
    assert third(one, 0) != third(other, 0)


def test_a_text_shorter_than_the_batch_is_refused() -> None:
    with pytest.raises(DataError, match="3 tokens cannot be cut into 4 streams"):
        BPTTWindows(np.arange(3), 4, 5)


def test_streams_have_rows_and_steps() -> None:
    with pytest.raises(ConfigError, match="streams and bptt must be 1 or more, not 2 and 0"):
        BPTTWindows(np.arange(3), 2, 0)
