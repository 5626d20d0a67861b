"""The little stories: drawn by a grammar that knows the probability of each."""

import math
from collections import Counter

from elman.course.stories import tell_stories
from elman.course.story_grammar import RULES


def test_a_sentence_comes_as_often_as_its_probability_says() -> None:
    stories = tell_stories(4000, seed=5)
    shortest = Counter(story.text for story in stories if "felt" in story.words)
    for text, count in shortest.most_common(5):
        chance = next(math.exp(story.log_probability) for story in stories if story.text == text)
        assert abs(count - 4000 * chance) < 5 * math.sqrt(4000 * chance)


def test_a_sentence_comes_about_in_one_way_only() -> None:
    ways: dict[str, set[tuple[float, tuple[str, ...]]]] = {}
    for story in tell_stories(4000, seed=6):
        ways.setdefault(story.text, set()).add((round(story.log_probability, 9), story.tags))
    assert all(len(found) == 1 for found in ways.values())


def test_a_hero_keeps_the_same_pronouns_through_a_story() -> None:
    for story in tell_stories(500, seed=7):
        own = {
            word for word in story.words if word in ("he", "his", "him", "she", "her", "they", "their", "them")
        }
        assert any(
            own <= set(kind) for kind in (("he", "his", "him"), ("she", "her"), ("they", "their", "them"))
        )


def test_the_same_seed_tells_the_same_stories() -> None:
    assert tell_stories(5, seed=1) == tell_stories(9, seed=1)[:5] != tell_stories(5, seed=2)


def test_the_words_of_a_phrase_stand_in_their_order() -> None:
    texts = " ".join(story.text for story in tell_stories(2000, seed=8))
    pieces = [phrase.split() for phrases in RULES.values() for phrase in phrases]
    phrases = [
        [one.partition("/")[0] for one in some] for some in pieces if len(some) > 1 and not {*some} & {*RULES}
    ]
    assert phrases
    assert all(" ".join(words) in texts for words in phrases)
