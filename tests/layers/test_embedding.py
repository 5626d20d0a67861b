"""Embeddings, one-hot rows and pretrained vectors."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.layers.embedding import (
    Embedding,
    LockedDropout,
    OneHot,
    Pretrained,
    PretrainedEmbedding,
    WordDropout,
)

IDS = torch.tensor([[4, 2, 0], [1, 0, 0]])
MATRIX = torch.tensor([[0.0, 0], [0, 0], [1, -3], [0, 0], [4, 2]])
FOUND = torch.tensor([False, False, True, False, True])


def pretrained(matrix: torch.Tensor, found: torch.Tensor, *, frozen: bool = True) -> PretrainedEmbedding:
    return PretrainedEmbedding(Pretrained(matrix, found, torch.full_like(found, not frozen)))


def test_padding_is_zero_and_stays_so():
    embed = Embedding(5, 3)
    assert not embed(IDS)[IDS == 0].any()
    embed(IDS).sum().backward()
    gradient = embed.E.weight.grad
    assert not gradient[0].any()
    assert gradient[[1, 2, 4]].all()


def test_the_same_features_are_dropped_at_every_position_and_others_in_each_row():
    xs, drop = torch.ones(5, 7, 400), LockedDropout(0.25)
    kept = drop(xs)
    assert sorted({round(share, 5) for share in kept.unique().tolist()}) == [0.0, 1.33333]
    assert (kept == kept[:, :1]).all()
    assert len({tuple(row.tolist()) for row in kept[:, 0]}) == 5
    assert (kept > 0).float().mean().item() == pytest.approx(0.75, abs=0.05)
    assert drop.eval()(xs) is xs
    assert LockedDropout(0.0)(xs) is xs


def test_dropped_words_are_unknown_but_padding_never_is():
    ids, mask = torch.full((50, 40), 7), torch.arange(40) < 30
    mask = mask.expand(50, 40)
    drop = WordDropout(0.25, 1)
    read = drop(ids, mask)
    assert set(read.unique().tolist()) == {1, 7}
    assert (read[:, 30:] == 7).all()
    assert (read[:, :30] == 1).float().mean().item() == pytest.approx(0.25, abs=0.05)
    assert drop.eval()(ids, mask) is ids
    assert WordDropout(0.0, 1)(ids, mask) is ids


def test_a_one_hot_row_has_a_one_at_the_id():
    rows = OneHot(5)(IDS)
    assert torch.equal(rows.argmax(-1), IDS)
    assert torch.equal(rows.sum(-1), torch.ones(2, 3))


def test_a_matrix_after_one_hot_is_an_embedding():
    """x W for a one-hot x is a row of W: the lectures' two views of the same input."""
    embed = Embedding(5, 3)
    assert torch.equal(OneHot(5)(IDS) @ embed.E.weight, embed(IDS))


def test_one_hot_has_the_precision_of_the_net():
    assert OneHot(5).double()(IDS).dtype == torch.float64


@pytest.mark.parametrize("frozen", [False, True])
def test_found_vectors_keep_their_direction_and_ratio(frozen):
    xs = pretrained(MATRIX, FOUND, frozen=frozen)(torch.tensor([[2, 4]]))[0]
    ratio = xs / MATRIX[[2, 4]]
    torch.testing.assert_close(ratio, ratio[:1, :1].expand(2, 2))
    assert xs.std().item() == pytest.approx(PretrainedEmbedding.spread, rel=1e-5)


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("scale", [0.01, 10.0])
def test_the_scale_of_the_file_does_not_matter(frozen, scale):
    ids = torch.tensor([[2, 4]])
    one = pretrained(MATRIX, FOUND, frozen=frozen)(ids)
    scaled = pretrained(MATRIX * scale, FOUND, frozen=frozen)
    torch.testing.assert_close(scaled(ids), one)


@pytest.mark.parametrize("frozen", [False, True])
def test_padding_is_zero_even_if_the_file_has_it(frozen):
    embed = pretrained(torch.randn(3, 2), torch.tensor([True, False, True]), frozen=frozen)
    assert not embed(torch.tensor([[0]])).any()
    embed(torch.tensor([[0, 1, 2]])).sum().backward()
    torch.optim.SGD(embed.parameters(), 1.0).step()
    assert not embed(torch.tensor([[0]])).any(), "and stays so"


def test_frozen_rows_get_no_gradient_and_the_missing_do():
    embed = pretrained(MATRIX, FOUND)
    embed(torch.tensor([[1, 2, 4]])).sum().backward()
    assert [name for name, _ in embed.named_parameters()] == ["own"]
    assert embed.own.grad.tolist() == [[1, 1], [0, 0]]  # of ids 1, 3


def test_each_missing_token_has_a_row_of_its_own():
    embed = pretrained(MATRIX, FOUND)
    rows = embed(torch.tensor([[1, 3]]))[0]
    assert torch.equal(rows, embed.own)
    assert not torch.equal(rows[0], rows[1])


def test_only_the_rows_that_are_said_to_be_trained_change():
    """Of the found ones; the others have to. Weight decay moves even what has no gradient."""
    trained = torch.tensor([True, False, True, False, False])
    embed = PretrainedEmbedding(Pretrained(MATRIX, FOUND, trained))
    ids = torch.arange(5)[None]
    before = embed(ids).detach()
    optimizer = torch.optim.AdamW(embed.parameters(), 0.1, weight_decay=0.5)
    embed(ids).sum().backward()
    optimizer.step()
    moved = (embed(ids) != before)[0].any(-1)
    assert moved.tolist() == [False, True, True, True, False]


@pytest.mark.parametrize("frozen", [False, True])
def test_what_was_saved_is_what_is_loaded(frozen):
    one = pretrained(MATRIX, FOUND, frozen=frozen)
    other = pretrained(MATRIX, FOUND, frozen=frozen)
    other.load_state_dict(one.state_dict())
    assert torch.equal(one(IDS), other(IDS))


@given(rows=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=8))
def test_the_weights_tell_what_an_embedding_was_made_from(rows):
    """Id 1 is that of the unknown word, which no file has."""
    found, trained = torch.tensor([(False, False), (False, False), *rows]).T
    one = PretrainedEmbedding(Pretrained(torch.randn(len(found), 3), found, trained))
    weights = one.state_dict()
    parts = [weights[name] for name in ("own", "given", "trained")]
    other = PretrainedEmbedding(Pretrained.like(*parts))
    other.load_state_dict(weights)
    ids = torch.arange(len(found))[None]
    assert torch.equal(one(ids), other(ids))


def test_a_file_that_knows_nothing_leaves_all_to_training():
    embed = pretrained(torch.zeros(5, 2), torch.zeros(5, dtype=torch.bool))
    assert torch.isfinite(embed(IDS)).all()
    assert len(embed.own) == 4, "all but the padding"


def test_further_rows_are_put_in_before_a_place_and_will_be_trained():
    matrix = torch.arange(6.0).view(3, 2)
    vectors = Pretrained(matrix, torch.tensor([True, False, True]), torch.tensor([False, True, False]))
    wide = vectors.extend(2, at=1)
    assert wide.matrix.tolist() == [[0, 1], [0, 0], [0, 0], [2, 3], [4, 5]]
    assert wide.found.tolist() == [True, False, False, False, True]
    assert wide.trained.tolist() == [False, True, True, True, False]
