"""Embeddings, one-hot rows and pretrained vectors."""

import pytest
import torch

from elman.layers.embedding import Embedding, OneHot, Pretrained, PretrainedEmbedding

IDS = torch.tensor([[4, 2, 0], [1, 0, 0]])
VECTORS = Pretrained(
    torch.tensor([[0.0, 0], [0, 0], [1, -3], [0, 0], [4, 2]]),
    torch.tensor([False, False, True, False, True]),
)


def test_padding_is_zero_and_stays_so():
    embed = Embedding(5, 3)
    assert not embed(IDS)[IDS == 0].any()
    embed(IDS).sum().backward()
    gradient = embed.E.weight.grad
    assert not gradient[0].any()
    assert gradient[[1, 2, 4]].all()


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
    xs = PretrainedEmbedding(VECTORS, frozen=frozen)(torch.tensor([[2, 4]]))[0]
    ratio = xs / VECTORS.matrix[[2, 4]]
    torch.testing.assert_close(ratio, ratio[:1, :1].expand(2, 2))
    assert xs.std().item() == pytest.approx(PretrainedEmbedding.spread, rel=1e-5)


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("scale", [0.01, 10.0])
def test_the_scale_of_the_file_does_not_matter(frozen, scale):
    ids = torch.tensor([[2, 4]])
    one = PretrainedEmbedding(VECTORS, frozen=frozen)(ids)
    scaled = Pretrained(VECTORS.matrix * scale, VECTORS.found)
    torch.testing.assert_close(PretrainedEmbedding(scaled, frozen=frozen)(ids), one)


@pytest.mark.parametrize("frozen", [False, True])
def test_padding_is_zero_even_if_the_file_has_it(frozen):
    vectors = Pretrained(torch.ones(3, 2), torch.tensor([True, True, True]))
    embed = PretrainedEmbedding(Pretrained(torch.randn(3, 2), vectors.found), frozen=frozen)
    assert not embed(torch.tensor([[0]])).any()


def test_frozen_rows_get_no_gradient_and_the_missing_do():
    embed = PretrainedEmbedding(VECTORS, frozen=True)
    embed(torch.tensor([[1, 2, 4]])).sum().backward()
    assert embed.E.grad is None
    assert embed.own.grad.tolist() == [[0, 0], [1, 1], [0, 0]]  # of ids 0, 1, 3


def test_each_missing_token_has_a_row_of_its_own():
    embed = PretrainedEmbedding(VECTORS, frozen=True)
    rows = embed(torch.tensor([[0, 1, 3]]))[0]
    assert torch.equal(rows, embed.own)
    assert not torch.equal(rows[1], rows[2])


@pytest.mark.parametrize("frozen", [False, True])
def test_what_was_saved_is_what_is_loaded(frozen):
    one = PretrainedEmbedding(VECTORS, frozen=frozen)
    other = PretrainedEmbedding(VECTORS, frozen=frozen)
    other.load_state_dict(one.state_dict())
    assert torch.equal(one(IDS), other(IDS))


def test_a_file_that_knows_nothing_leaves_all_to_training():
    nothing = Pretrained(torch.zeros(5, 2), torch.zeros(5, dtype=torch.bool))
    embed = PretrainedEmbedding(nothing, frozen=True)
    assert torch.isfinite(embed(IDS)).all()
    assert len(embed.own) == 5
