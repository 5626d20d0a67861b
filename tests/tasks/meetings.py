"""A toy task that needs both texts: do two lines ask for the same thing, a time or a place?"""

from pathlib import Path

from elman.tasks.config import TokenizerConfig
from elman.tasks.pairs.task import Pairs, PairsConfig, PairsExample
from tests.tasks import topics

TINY = topics.TINY | {"mlp": 12, "character_size": 4, "character_hidden": 6}


def examples(count: int, seed: int = 0) -> list[PairsExample]:
    """Pairs of lines of two to six words, half of them of each label."""
    first, second = topics.examples(count, seed), topics.examples(2 * count, seed + 1)
    found = []
    for number, a in enumerate(first):  # topics alternate, so that every other pair has one topic
        b = second[number + number // 2 % 2]
        label = "same" if a.label == b.label else "other"
        found.append(PairsExample(a.text, b.text, label, f"toy:{number + 1}"))
    return found


def table(path: Path, count: int, seed: int = 0) -> str:
    """The same as a file with columns first, second and label."""
    rows = [f"{e.first}\t{e.second}\t{e.label}\n" for e in examples(count, seed)]
    path.write_text("first\tsecond\tlabel\n" + "".join(rows))
    return str(path)


def fresh(count: int = 40, **options: object) -> Pairs:
    """An untrained tiny model in the state in which it answers."""
    made = Pairs.from_examples(PairsConfig(**(TINY | options)), TokenizerConfig(), examples(count))
    made.net.eval()
    return made
