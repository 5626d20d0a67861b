"""x_i of a word: its parts side by side, each where it was asked for."""

import pytest
import torch

from elman.layers.embedding import Embedding, OneHot, Pretrained, PretrainedEmbedding, WordDropout
from elman.layers.word_layer import CharacterCNN, CharacterRNN, WordBatch, WordLayer

UNKNOWN = 1
FORMS = torch.tensor([[0, 0], [2, 3], [4, 0]])  # characters: of the padding and of two words
PLACE = torch.tensor([[1, 2, 1], [2, 0, 0]])
WORDS = WordBatch(
    ids=torch.tensor([[4, 5, 4], [5, 0, 0]]),
    mask=PLACE > 0,
    features=torch.tensor([[[2, 1], [3, 4], [2, 1]], [[3, 4], [0, 0], [0, 0]]]),
    place=PLACE,
    characters=FORMS,
)


def layer(
    *, spelled: type[CharacterCNN] | type[CharacterRNN] | None, features: tuple[int, ...] = ()
) -> WordLayer:
    characters = spelled(5, 3, 4) if spelled else None
    return WordLayer([Embedding(6, 7)], characters, features, WordDropout(0.0, UNKNOWN))


@pytest.mark.parametrize("spelled", [None, CharacterCNN, CharacterRNN])
@pytest.mark.parametrize("features", [(), (4,), (4, 5)])
def test_a_word_is_its_parts_side_by_side(spelled, features):
    made = layer(spelled=spelled, features=features)
    xs = made(WORDS)
    assert xs.shape == (2, 3, made.output_size)
    parts = [made.embed[0](WORDS.ids)]
    if made.characters:
        parts.append(made.characters(FORMS[WORDS.place.flatten()]).unflatten(0, WORDS.place.shape))
    parts += [embed.E.weight[WORDS.features[..., i]] for i, embed in enumerate(made.features)]
    torch.testing.assert_close(xs, torch.cat(parts, -1), rtol=0, atol=1e-6)
    assert torch.equal(xs[0, 0], xs[0, 2]), "the same word is the same, wherever it stands"
    assert torch.equal(xs[0, 1], xs[1, 0])
    assert not xs[~WORDS.mask].any(), "padding is zero"


def test_a_forgotten_word_can_still_be_spelled():
    made = layer(spelled=CharacterCNN, features=(4, 5))
    kept = made(WORDS)
    made.forget.p = 1.0
    xs = made.train()(WORDS)
    unknown = made.embed[0].E.weight[UNKNOWN]
    assert torch.equal(xs[WORDS.mask][:, :7], unknown.expand(4, 7))
    assert torch.equal(xs[..., 7:], kept[..., 7:])
    assert not xs[~WORDS.mask].any()


def test_embeddings_stand_beside_each_other():
    both = [Embedding(6, 2), OneHot(6)]
    made = WordLayer(both, None, (), WordDropout(0.0, UNKNOWN))
    expected = torch.cat([embed(WORDS.ids) for embed in both], -1)
    assert torch.equal(made(WORDS), expected)


def test_what_only_the_file_of_vectors_has_is_unknown_to_the_embedding_beside_it():
    found = torch.tensor([False, False, True, False, True, True])
    given = PretrainedEmbedding(Pretrained(torch.randn(6, 3), found, torch.zeros(6) > 0))
    beside = Embedding(5, 2)  # without the last word
    xs = WordLayer([given, beside], None, (), WordDropout(0.0, UNKNOWN))(WORDS)
    assert torch.equal(xs[0, 1], torch.cat([given(torch.tensor([[5]]))[0, 0], beside.E.weight[UNKNOWN]]))
    assert torch.equal(xs[0, 0, 3:], beside.E.weight[4])


def test_a_batch_moves_as_a_whole():
    moved = WORDS.to(torch.device("meta"))
    assert all(part.device.type == "meta" for part in moved)
