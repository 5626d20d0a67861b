"""Texts of a small world, made up by rules: what follows from them is known."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

NAMES = ("Ann", "Bob", "Carla", "Dan", "Emma", "Frank", "Grace", "Hugo", "Iris", "Jack")
PLACES = ("garden", "kitchen", "park", "school", "station", "library", "harbour", "market")
THINGS = ("ring", "key", "ball", "book", "letter", "lamp", "coin", "hat")
FEMALE = {"Ann", "Carla", "Emma", "Grace", "Iris"}


def facts(corpora: Path) -> Iterator[tuple[str, str]]:
    """Three facts about where people are and what they have, a question about one, and its answer."""
    draw = random.Random(0)
    for _ in range(6000):
        who, where = draw.sample(NAMES, 3), draw.sample(PLACES, 3)
        what = draw.sample(THINGS, 3)
        has = [draw.random() < 0.5 for _ in who]
        told = [
            f"{name} has the {thing} ." if holds else f"{name} is in the {place} ."
            for name, place, thing, holds in zip(who, where, what, has, strict=True)
        ]
        i = draw.randrange(3)
        question, answer = f"where is {who[i]} ?", f"in the {where[i]}"
        if has[i]:
            question, answer = draw.choice(
                [(f"what has {who[i]} ?", f"the {what[i]}"), (f"who has the {what[i]} ?", who[i])]
            )
        yield f"{' '.join(told)} {question}", answer


def stories(corpora: Path) -> Iterator[tuple[str, str]]:
    """The beginning of a story about something lost, and how it goes on."""
    draw = random.Random(1)
    for _ in range(6000):
        loser, finder = draw.sample(NAMES, 2)
        place, thing = draw.choice(PLACES), draw.choice(THINGS)
        her, finds = ("her" if loser in FEMALE else "his"), "she" if finder in FEMALE else "he"
        begin = f"{loser} lost {her} {thing} in the {place} ."
        if draw.random() < 0.5:
            yield (
                f"{begin} the next day {finder} walked through the {place} .",
                f"{finds} found the {thing} and gave it back to {loser} .",
            )
        else:
            yield (
                f"{begin} {finder} looked for it all day long , but in vain .",
                f"{finds} was sorry , and {loser} never saw the {thing} again .",
            )
