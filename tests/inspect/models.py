"""Tiny untrained models of each task, in float64, and what their networks score without the code under test."""

import torch
from torch import Tensor, nn

from elman.tasks.classifier.task import Classifier
from elman.tasks.language_model.task import LanguageModel
from elman.tasks.tagger.task import Tagger
from elman.tasks.word_batch import collate
from tests.tasks import names, topics
from tests.tasks.toy_lm import real

TEXT = "the city of Ann saw when"
SENTENCE = "the dog saw Ann Smith"


def classifier(**options) -> Classifier:
    torch.manual_seed(0)
    made = topics.fresh(**options)
    for weight in made.net.parameters():
        nn.init.normal_(weight, std=0.5)
    made.net.double()
    return made


def tagger(output: str, **options) -> Tagger:
    torch.manual_seed(0)
    made = names.fresh(output=output, **options)
    made.net.double()
    return made


def lm(kind: str = "words") -> LanguageModel:
    return real(kind)


class Scaled:
    """While it is on, token i of what a layer gives is 1 + e times what it was."""

    def __init__(self, embed: nn.Module, i: int, e: float, *, time: int) -> None:
        def scale(module: nn.Module, given: object, xs: Tensor) -> Tensor:
            factor = torch.ones(xs.shape[time], dtype=xs.dtype)
            factor[i] += e
            shape = [1, 1, 1]
            shape[time] = -1
            return xs * factor.view(shape)

        self.embed, self.scale = embed, scale

    def __enter__(self) -> None:
        self.watch = self.embed.register_forward_hook(self.scale)

    def __exit__(self, *_: object) -> None:
        self.watch.remove()


def logits(model: Classifier, text: str) -> Tensor:
    return model.net(collate(*model.featurizer.texts([text])))[0]


def slope(score, embed: nn.Module, i: int, *, time: int = 1, e: float = 1e-5) -> float:
    """How a score grows with the size of token i: a difference quotient."""
    found = []
    for sign in (1, -1):
        with torch.no_grad(), Scaled(embed, i, sign * e, time=time):
            found.append(float(score()))
    return (found[0] - found[1]) / (2 * e)
