"""The n-grams of few texts: three models together, weighed by texts that they have not read."""

import random

import torch

from elman.layers.ngrams import Bags
from elman.tasks.classifier.task import Classifier, ClassifierConfig, ClassifierExample
from elman.tasks.config import TokenizerConfig
from elman.tasks.few_texts import fit_few_texts
from elman.tasks.word_batch import collate
from tests.tasks.topics import TINY


def answer(rows: list[ClassifierExample]) -> tuple[torch.Tensor, torch.Tensor]:
    """What a model that is fitted to texts says of them, and what is right."""
    config = ClassifierConfig(**TINY, ngrams=True, characters="cnn")
    task = Classifier.from_examples(config, TokenizerConfig(), rows)
    data = task.encode(rows)
    texts, gold = [text for (text,) in data.rows], torch.tensor(data.labels)
    model, _ = fit_few_texts(texts, data.forms, gold, len(task.labels.items))
    return model(collate(texts, data.forms)), gold


def test_an_order_of_words_is_learnt():
    z, gold = answer([ClassifierExample(("a b", "b a")[i % 2], str(i % 2)) for i in range(60)])
    assert torch.equal(z.argmax(-1), gold)


def test_where_labels_are_chance_nobody_is_sure_even_of_texts_that_were_learnt():
    dice = random.Random(0)
    words = [f"w{number}" for number in range(200)]
    texts = [" ".join(dice.choices(words, k=5)) for _ in range(200)]
    z, _ = answer([ClassifierExample(text, dice.choice("ab")) for text in texts])
    assert z.softmax(-1).max(-1).values.mean() < 0.75


def test_first_and_last_columns_are_the_whole():
    bags, W = (
        Bags(torch.tensor([0, 0, 1]), torch.tensor([0, 2, 1]), torch.tensor([0.5, 2.0, 3.0]), 2),
        torch.rand(3, 4),
    )
    parts = bags.keep_first(2).multiply(W[:2]) + bags.drop_first(2).multiply(W[2:])
    torch.testing.assert_close(parts, bags.multiply(W))
