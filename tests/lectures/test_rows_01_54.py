"""Classification in the lectures and what words are, row by row, each against something that is not Elman."""

import numpy as np
import pytest
import torch
from torch import nn

from elman.layers import RNN, BiRNN, to_torch
from elman.tasks.classifier.task import Classifier, ClassifierConfig, ClassifierExample
from elman.tasks.config import TokenizerConfig
from elman.tasks.tagger.task import Tagger, TaggerConfig
from elman.tasks.word_batch import collate
from tests.tasks import names, topics

TEXTS = ["when", "the city of the river", "is a year"]


def words_of(model: Classifier, text: str) -> torch.Tensor:
    """x_{1:n} (n, D): the rows of E."""
    return model.net.words.embed[0].E.weight.detach()[model.featurizer.tokenizer.encode(text)]


def their_lstm(model: Classifier) -> nn.LSTM:
    """PyTorch's LSTM with the weights of the encoder."""
    level = model.net.encode.stack[0]
    both = isinstance(level, BiRNN)
    bare = BiRNN(level.forward_rnn.cell.cell, level.backward_rnn.cell.cell) if both else RNN(level.cell.cell)
    sizes = bare.input_size, model.config.hidden
    theirs = nn.LSTM(*sizes, batch_first=True, bidirectional=both)
    theirs.load_state_dict(to_torch(bare))
    return theirs


def affine(layer: nn.Linear, x: torch.Tensor) -> np.ndarray:
    return layer.weight.detach().numpy() @ x.detach().numpy() + layer.bias.detach().numpy()


def softmax(a: np.ndarray) -> np.ndarray:
    e = np.exp(a - a.max())
    return e / e.sum()


def decided(model: Classifier, features: torch.Tensor) -> dict[str, float]:
    """The probability of each label: a linear decision, or one through a hidden layer of ReLUs."""
    first, *rest = (layer for layer in model.net.decide if isinstance(layer, nn.Linear))
    logits = affine(first, features)
    if rest:
        logits = affine(rest[0], torch.from_numpy(np.maximum(logits, 0)))
    return dict(zip(model.labels.items, softmax(logits), strict=True))


def agrees(model: Classifier, features) -> None:
    """The model decides on these features of a text."""
    for text, answer in zip(TEXTS, model.classify(TEXTS), strict=True):
        expected = decided(model, features(text))
        assert answer.probabilities == pytest.approx(expected, abs=1e-5)


def test_row_01_the_baselines_average_words_or_put_the_first_side_by_side():
    bag = topics.fresh(encoder="bag")
    agrees(bag, lambda text: words_of(bag, text).mean(0))
    window = topics.fresh(encoder="window", window=3)

    def first_words(text):
        xs = words_of(window, text)[:3]
        return torch.cat([xs, xs.new_zeros(3 - len(xs), xs.shape[1])]).flatten()

    agrees(window, first_words)


@pytest.mark.parametrize("mlp", [0, 5])
def test_row_06_the_loss_of_an_acceptor_is_on_y_n_directly_or_through_an_mlp(mlp):
    model = topics.fresh(bidirectional=False, pool="last", mlp=mlp)
    theirs, losses = their_lstm(model), []
    examples = [ClassifierExample("the city of the river", "place"), ClassifierExample("when", "time")]
    for text, label, _ in examples:
        y_n = theirs(words_of(model, text)[None])[0][0, -1]
        losses.append(-np.log(decided(model, y_n)[label]))
    ours = model.loss(model.encode(examples), 0.0).item()
    assert ours == pytest.approx(np.mean(losses), rel=1e-5)


def test_row_46_classification_from_the_last_state_through_a_feed_forward_net():
    model = topics.fresh(bidirectional=False, pool="last", mlp=7)
    theirs = their_lstm(model)
    agrees(model, lambda text: theirs(words_of(model, text)[None])[1][0][0, 0])


@pytest.mark.parametrize("bidirectional", [False, True])
def test_row_47_the_mean_of_all_hidden_states(bidirectional):
    model = topics.fresh(bidirectional=bidirectional, pool="mean")
    theirs = their_lstm(model)
    agrees(model, lambda text: theirs(words_of(model, text)[None])[0][0].mean(0))


def test_row_48_the_forward_state_of_the_last_word_with_the_backward_state_of_the_first():
    model = topics.fresh(pool="ends")
    theirs = their_lstm(model)

    def ends(text):
        ys = theirs(words_of(model, text)[None])[0][0]
        H = model.config.hidden
        return torch.cat([ys[-1, :H], ys[0, H:]])

    agrees(model, ends)


SPAM = (("win money now", "free money win", "claim your free prize"), ("see you soon", "the talk is at two"))
MOOD = ("what a lovely film", "lovely and warm"), ("a dull film", "dull and slow")


@pytest.mark.parametrize("texts", [SPAM, MOOD], ids=["spam", "sentiment"])
def test_row_49_any_label_of_a_text_is_learnt(texts):
    labels = [ClassifierExample(text, name) for some, name in zip(texts, "ab", strict=True) for text in some]
    model = Classifier.from_examples(ClassifierConfig(**topics.TINY), TokenizerConfig(), labels)
    optimizer = torch.optim.Adam(model.net.parameters(), 0.05)
    for _ in range(30):
        model.net.train()
        optimizer.zero_grad()
        model.loss(model.encode(labels), 0.0).backward()
        optimizer.step()
    assert [p.label for p in model.classify(e.text for e in labels)] == [e.label for e in labels]


def vectors(tmp_path, freeze_vectors: bool) -> tuple[Tagger, dict[str, list[float]]]:
    """A tagger that reads pretrained vectors; only the file knows the zebra."""
    known = {"ann": [1.0, 2.0, 3.0], "saw": [2.0, 1.0, -1.0], "zebra": [0.5, 0.5, 0.5]}
    file = tmp_path / "vectors.txt"
    file.write_text("".join(f"{w} {' '.join(map(str, v))}\n" for w, v in known.items()))
    options = names.TINY | {"vectors": str(file), "freeze_vectors": freeze_vectors}
    model = Tagger.from_examples(TaggerConfig(**options), TokenizerConfig(lower=True), names.examples(30))
    model.net.eval()
    return model, known


def seen(model: Tagger, words: list[str]) -> torch.Tensor:
    """What the encoder reads of each word."""
    with torch.no_grad():
        return model.net.words(collate(*model.featurizer.sentences([words])))[0]


def test_row_53_pretrained_embeddings_are_the_input_of_a_tagger(tmp_path):
    """All of them times one factor, which gives their features the spread of trained ones."""
    model, known = vectors(tmp_path, freeze_vectors=False)
    words = ["Ann", "saw", "zebra"]
    factors = seen(model, words) / torch.tensor([known[word.lower()] for word in words])
    torch.testing.assert_close(factors, torch.full((3, 3), factors[0, 0].item()))
    assert torch.equal(seen(model, ["xyz"]), seen(model, ["abc"])), "both unknown"


@pytest.mark.parametrize("frozen", [False, True])
def test_row_54_vectors_are_frozen_or_fine_tuned(tmp_path, frozen):
    model, _ = vectors(tmp_path, freeze_vectors=frozen)
    words = ["ann", "saw", "zebra", "york"]
    before = seen(model, words)
    names.trained(model, names.examples(30), 3)
    model.net.eval()
    moved = (seen(model, words) != before).any(1).tolist()
    assert moved == [not frozen, not frozen, False, True], "the zebra was never trained on"
