"""What of a long text is read, and in which chunks."""

import pytest
import torch

from elman.layers.long_texts import join_chunks, keep_ends, split_chunks


def numbered(*lengths):
    """Rows in which x_i is i + 1, and zero behind the end."""
    steps = torch.arange(max(lengths))
    mask = steps < torch.tensor(lengths)[:, None]
    return ((steps + 1.0) * mask)[..., None], mask


@pytest.mark.parametrize("most", range(1, 9))
def test_the_first_and_the_last_positions_of_a_long_row_are_kept_in_their_order(most):
    xs, mask = numbered(7, 3, 5, 0)
    kept, places = keep_ends(xs, mask, most)
    for row, real, length in zip(kept, places, (7, 3, 5, 0), strict=True):
        whole = [*range(1, length + 1)]
        cut = whole[: most - most // 2] + whole[len(whole) - most // 2 :]
        assert row[real, 0].tolist() == (whole if length <= most else cut)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 9])
def test_chunks_joined_again_are_the_rows(size):
    xs, mask = numbered(7, 3, 0)
    chunks, real = split_chunks(xs, mask, size)
    assert chunks.shape[:2] == real.shape == (3 * -(-7 // size), size)
    assert torch.equal(join_chunks(chunks, mask), xs)
    assert torch.equal(chunks[real], xs[mask])
