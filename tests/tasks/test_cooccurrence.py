"""Vectors of words by the words near them."""

import numpy as np
import torch

from elman.layers.embedding import Embedding, OneHot
from elman.tasks.cooccurrence import find_word_vectors, write_word_vectors


def count_slowly(texts: list[list[int]], words: int) -> np.ndarray:
    counts = np.zeros((words, words))
    for text in texts:
        for i, one in enumerate(text):
            for j, other in enumerate(text):
                if 0 < abs(i - j) <= 10:
                    counts[one, other] += 1 / abs(i - j)
    return counts


def as_ids(texts: list[list[int]]) -> list[np.ndarray]:
    return [np.array(text, np.int64) for text in texts]


def test_products_of_vectors_are_those_of_the_singular_vectors_of_mutual_information():
    dice = np.random.default_rng(0)
    texts = [dice.integers(1, 9, size=int(dice.integers(2, 16))).tolist() for _ in range(12)]
    counts = count_slowly(texts, 9)
    share = counts.sum(1) ** 0.75 / (counts.sum(1) ** 0.75).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        information = np.log(counts / counts.sum(1, keepdims=True) / share)
    U, S, _ = np.linalg.svd(np.where(counts > 0, information, 0).clip(min=0))
    expected = (U * np.sqrt(S))[1:, :4]
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    found = find_word_vectors(as_ids(texts), 9, 4)[1:].numpy()
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-3)


def test_words_with_the_same_neighbours_have_the_same_vector_and_texts_are_no_neighbours():
    texts = [[1, 3, 5], [2, 3, 5], [4, 6, 7], [4, 6, 7]] * 3
    E = find_word_vectors(as_ids(texts), 9, 3)
    torch.testing.assert_close(E[1], E[2], atol=1e-4, rtol=0)
    assert (E[1] @ E[4]).abs() < 1e-3
    assert not E[8].any()  # it is in no text


def test_an_embedding_keeps_the_rows_of_words_that_texts_lack():
    torch.manual_seed(0)
    embed = Embedding(9, 100)
    before = embed.E.weight.detach().clone()
    write_word_vectors(embed, as_ids([[1, 2, 3], [2, 3, 4]]))
    after = embed.E.weight.detach()
    changed = (before != after).any(1)
    assert changed.tolist() == [False, True, True, True, True, False, False, False, False]
    torch.testing.assert_close(after[1:5].norm(dim=1), torch.full((4,), 3.5))


def test_a_table_without_weights_is_left_as_it_is():
    write_word_vectors(OneHot(4), as_ids([[1, 2, 3]]))


def test_a_text_of_one_word_gives_no_vector():
    assert not find_word_vectors(as_ids([[1, 1, 1]]), 3, 2).any()
