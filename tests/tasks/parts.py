"""A toy task with several labels a text: each of three words brings its label, other words bring none."""

import random

from elman.tasks.classifier.task import Classifier, ClassifierConfig, MultilabelExample
from elman.tasks.config import TokenizerConfig
from tests.tasks.topics import OTHER, TINY

LABELS = {"year": "time", "city": "place", "queen": "person"}


def multi_examples(count: int, seed: int = 0) -> list[MultilabelExample]:
    dice = random.Random(seed)
    found = []
    for number in range(count):
        named = dice.sample(sorted(LABELS), dice.randint(0, 3))
        words = [*dice.choices(OTHER, k=3), *named]
        dice.shuffle(words)
        found.append(MultilabelExample(" ".join(words), tuple(LABELS[w] for w in named), f"toy:{number + 1}"))
    return found


def fresh_multi(count: int = 40, **options: object) -> Classifier:
    """An untrained tiny classifier of several labels in the state in which it answers."""
    config = ClassifierConfig(**(TINY | options))
    made = Classifier.from_examples(config, TokenizerConfig(), multi_examples(count))
    made.net.eval()
    return made
