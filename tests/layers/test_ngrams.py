"""Bags of n-grams: counted and weighed as scikit-learn does with tf-idf, multiplied as matrices are."""

import numpy as np
import torch
from sklearn.feature_extraction.text import TfidfVectorizer

from elman.layers.character_ngrams import piece_keys, spread_pieces
from elman.layers.ngrams import Bags, NGramModel, ngram_keys
from elman.layers.word_layer import WordBatch

TEXTS = [[5, 6, 5], [6], [], [7, 5, 6, 5, 6]]


def batch(texts: list[list[int]]) -> WordBatch:
    longest = max(map(len, texts))
    ids = torch.tensor([text + [3] * (longest - len(text)) for text in texts])  # padding may be anything
    mask = torch.tensor([[i < len(text) for i in range(longest)] for text in texts])
    none = ids.new_zeros(*ids.shape, 0)
    return WordBatch(ids, mask, none, torch.zeros_like(ids), ids.new_zeros(1, 0))


def dense(bags: Bags, columns: int) -> torch.Tensor:
    table = torch.zeros(bags.texts, columns)
    table[bags.rows, bags.columns] = bags.values
    return table


def test_words_and_pairs_are_counted_and_the_ends_of_a_text_are_neighbours():
    words = batch(TEXTS)
    rows, keys = ngram_keys(words.ids, words.mask)
    found = sorted(zip(rows.tolist(), keys.tolist(), strict=True))

    def pair(u: int, v: int) -> int:
        return (u + 1) * 2**31 + v

    last = [7, 5, 6, 5, 6, pair(0, 7), pair(7, 5), pair(5, 6), pair(6, 5), pair(5, 6), pair(6, 0)]
    assert found == sorted(
        [(0, k) for k in (5, 6, 5, pair(0, 5), pair(5, 6), pair(6, 5), pair(5, 0))]
        + [(1, k) for k in (6, pair(0, 6), pair(6, 0))]
        + [(3, k) for k in last]
    )


def test_weights_are_those_of_tf_idf():
    names = {5: "five", 6: "six", 7: "seven"}
    vectorizer = TfidfVectorizer(sublinear_tf=True)
    expected = vectorizer.fit_transform([" ".join(names[i] for i in text) for text in TEXTS]).toarray()
    model = NGramModel(3, 2)
    model.keys = torch.tensor([5, 6, 7])
    places = [vectorizer.vocabulary_[names[i]] for i in (5, 6, 7)]
    model.idf = torch.tensor(vectorizer.idf_[places], dtype=torch.float32)
    np.testing.assert_allclose(dense(model.bags(batch(TEXTS)), 3).numpy(), expected[:, places], rtol=1e-6)


def test_bags_multiply_as_the_matrix_they_stand_for():
    model = NGramModel(3, 2)
    model.keys = torch.tensor([5, 6, 7])
    bags = model.bags(batch(TEXTS))
    table = dense(bags, 3)
    W, slopes = torch.randn(3, 2), torch.randn(4, 2)
    torch.testing.assert_close(bags.multiply(W), table @ W)
    torch.testing.assert_close(bags.transpose(3).multiply(slopes), table.T @ slopes)
    model.W, model.b = W, torch.tensor([1.0, 2.0])
    torch.testing.assert_close(model(batch(TEXTS)), table @ W + model.b)


def test_parts_of_bags_are_parts_of_the_matrix():
    model = NGramModel(3, 2)
    model.keys = torch.tensor([5, 6, 7])
    bags = model.bags(batch(TEXTS))
    table = dense(bags, 3)
    for texts in ([1, 0, 1, 1], [0, 0, 1, 0], [0, 1, 0, 1]):
        chosen = torch.tensor(texts, dtype=torch.bool)
        assert torch.equal(dense(bags.pick(chosen), 3), table[chosen])
    for count in (0, 1, 3):
        assert torch.equal(dense(bags.keep_first(count), 3)[:, :count], table[:, :count])
        assert torch.equal(dense(bags.drop_first(count), 3 - count), table[:, count:])
        assert len(bags.keep_first(count).rows) + len(bags.drop_first(count).rows) == len(bags.rows)
    assert [some.tolist() for some in bags.split()] == [row.nonzero()[:, 0].tolist() for row in table]


def test_of_further_labels_the_n_grams_say_nothing():
    small, large = NGramModel(3, 2), NGramModel(3, 4)
    small.keys, small.idf = torch.tensor([5, 6, 7]), torch.tensor([1.0, 2.0, 3.0])
    small.W, small.b = torch.randn(3, 2), torch.randn(2)
    large.grow_from(small)
    found, words = large(batch(TEXTS)), small(batch(TEXTS))
    torch.testing.assert_close(found[:, :2], words)
    assert not found[:, 2:].any()


def test_pieces_are_all_substrings_of_two_to_five_characters_with_the_ends_of_the_word():
    words = ["", "ab", "abcabc", "c"]
    letters = torch.tensor([[ord(c) - 90 for c in word] + [0] * (6 - len(word)) for word in words])
    number, key = piece_keys(letters)
    expected = [
        (n, sum(({"^": 1, "$": 1}.get(c) or ord(c) - 88) * 4097**i for i, c in enumerate(whole[begin:end])))
        for n, whole in enumerate(f"^{word}$" if word else "" for word in words)
        for begin in range(len(whole))
        for end in range(begin + 2, min(begin + 5, len(whole)) + 1)
    ]
    assert sorted(zip(number.tolist(), (-key).tolist(), strict=True)) == sorted(expected)
    assert number.tolist() == sorted(number.tolist())


def test_every_word_of_a_text_brings_its_pieces():
    ids = torch.tensor([[4, 5, 4], [5, 0, 0]])
    letters = torch.tensor([[0, 0], [7, 8], [9, 0]])
    words = WordBatch(ids, ids != 0, ids[..., None][..., :0], torch.tensor([[1, 2, 1], [2, 0, 0]]), letters)
    found = spread_pieces(words, torch.tensor([1, 1, 2]), torch.tensor([10, 11, 20]))
    pairs = sorted(zip(*(part.tolist() for part in found), strict=True))
    assert pairs == [(0, 10), (0, 10), (0, 11), (0, 11), (0, 20), (1, 20)]


def test_words_and_pieces_are_each_a_vector_of_length_one():
    ids, letters = torch.tensor([[4, 5]]), torch.tensor([[0, 0], [7, 8], [9, 0]])
    words = WordBatch(ids, ids != 0, ids[..., None][..., :0], torch.tensor([[1, 2]]), letters)
    pieces = piece_keys(letters)[1].unique()
    model = NGramModel(len(pieces) + 2, 2)
    model.keys = torch.cat([pieces, torch.tensor([4, 5])])
    bags = model.bags(words)
    spelled = model.keys[bags.columns] < 0
    assert spelled.sum() == len(pieces)
    for part in (spelled, ~spelled):
        torch.testing.assert_close(bags.values[part].square().sum(), torch.tensor(1.0))


def test_a_model_that_is_not_fitted_says_nothing():
    assert not NGramModel(0, 2)(batch(TEXTS)).any()
