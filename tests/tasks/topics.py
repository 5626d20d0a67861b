"""A toy task that one word decides: does a line ask for a time or for a place?"""

import random
from pathlib import Path

from elman.tasks.classifier.task import Classifier, ClassifierConfig, ClassifierExample
from elman.tasks.config import TokenizerConfig

TIME = ("when", "year", "date", "month")
PLACE = ("where", "city", "river", "town")
OTHER = ("the", "of", "a", "is", "was", "in")

TINY = {"hidden": 6, "embedding": 8, "dropout": 0.0, "word_dropout": 0.0}


def examples(count: int, seed: int = 0) -> list[ClassifierExample]:
    """Lines of two to six words, half of them of each label."""
    dice = random.Random(seed)
    found = []
    for number in range(count):
        words = dice.choices(OTHER, k=dice.randint(1, 5))
        deciding, label = ((TIME, "time"), (PLACE, "place"))[number % 2]
        words.insert(dice.randint(0, len(words)), dice.choice(deciding))
        found.append(ClassifierExample(" ".join(words), label, f"toy:{number + 1}"))
    return found


def table(path: Path, count: int, seed: int = 0) -> str:
    """The same as a file with columns text and label."""
    rows = [f"{e.text}\t{e.label}\n" for e in examples(count, seed)]
    path.write_text("text\tlabel\n" + "".join(rows))
    return str(path)


def fresh(count: int = 40, **options: object) -> Classifier:
    """An untrained tiny classifier in the state in which it answers."""
    made = Classifier.from_examples(ClassifierConfig(**(TINY | options)), TokenizerConfig(), examples(count))
    made.net.eval()
    return made
