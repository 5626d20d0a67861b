"""Length-sorted chunks: every row once, the shortest first, never more than fits."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from elman.text.batching import length_sorted_chunks


@given(st.lists(st.integers(0, 30), max_size=40), st.integers(1, 9), st.integers(1, 60))
def test_chunks_hold_every_row_once_and_no_more_than_fits(lengths, max_rows, max_tokens):
    chunks = list(length_sorted_chunks(lengths, max_rows=max_rows, max_tokens=max_tokens))
    order = [i for chunk in chunks for i in chunk]
    assert order == sorted(range(len(lengths)), key=lambda i: lengths[i])
    for chunk in chunks:
        assert len(chunk) == 1 or len(chunk) * max(lengths[i] for i in chunk) <= max_tokens
    for chunk, following in pairwise(chunks):
        wider = (len(chunk) + 1) * lengths[following[0]]
        assert len(chunk) <= max_rows
        assert len(chunk) == max_rows or wider > max_tokens


@given(st.lists(st.integers(0, 30), max_size=40), st.integers(1, 9))
def test_without_a_limit_of_tokens_all_chunks_but_the_last_are_full(lengths, max_rows):
    sizes = [len(chunk) for chunk in length_sorted_chunks(lengths, max_rows=max_rows)]
    assert sum(sizes) == len(lengths)
    assert all(size == max_rows for size in sizes[:-1])
