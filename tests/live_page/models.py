"""Small models with weights at random, one of each kind that a page runs."""

import torch

from elman.tasks.classifier.data import ClassifierExample
from elman.tasks.classifier.task import Classifier, ClassifierConfig
from elman.tasks.config import TokenizerConfig
from elman.tasks.language_model.task import LanguageModel, LanguageModelConfig
from elman.tasks.seq2seq.data import Seq2SeqExample, TokenizerPairConfig
from elman.tasks.seq2seq.task import Seq2Seq, Seq2SeqConfig
from elman.tasks.tagger.data import TaggerExample
from elman.tasks.tagger.task import Tagger, TaggerConfig

LINES = [
    "The cat doesn't sleep: it's 3.14 well-known mice!",
    "Größe, naïve 漢字 and 2 emoji 👍🏽",
    "No more cats.",
]


def shake(task):
    """The task with weights far from their initial symmetry, ready to answer."""
    torch.manual_seed(1)
    with torch.no_grad():
        for weight in task.net.parameters():
            weight.add_(torch.randn_like(weight) * 0.3)
        for layer in task.net.modules():
            if isinstance(layer, torch.nn.Embedding) and layer.padding_idx is not None:
                layer.weight[layer.padding_idx] = 0
    task.net.eval()
    return task


def language_model(tokens=None, **model):
    config = LanguageModelConfig(**{"hidden": 8, "embedding": 6, "layers": 2} | model)
    return shake(LanguageModel.from_examples(config, tokens or TokenizerConfig(kind="chars"), LINES * 3))


def classifier(tokens=None, labels=("a", "b", "c"), **model):
    examples = [ClassifierExample(line, label) for line, label in zip(LINES, labels, strict=True)]
    config = ClassifierConfig(**{"hidden": 5, "embedding": 6} | model)
    return shake(Classifier.from_examples(config, tokens or TokenizerConfig(), examples))


def tagger(tags=("B-X", "I-X", "O"), **model):
    words = [line.split()[:3] for line in LINES]
    examples = [TaggerExample(tuple(some), (tuple(tags),), ("tag",)) for some in words]
    config = TaggerConfig(**{"hidden": 5, "embedding": 6, "character_hidden": 4, "tag_size": 3} | model)
    return shake(Tagger.from_examples(config, TokenizerConfig(lower=True, digits=True), examples))


def seq2seq(**model):
    examples = [Seq2SeqExample(line, (line[::-1],)) for line in LINES]
    config = Seq2SeqConfig(**{"hidden": 6, "embedding": 5, "max_tokens": 12, "beam": 3} | model)
    chars = TokenizerConfig(kind="chars")
    tokens = TokenizerPairConfig(chars, chars, joint=config.shared)
    return shake(Seq2Seq.from_examples(config, tokens, examples))
