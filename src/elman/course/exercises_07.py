"""Exercises of notebook 07: completions of a word, words of letters, the size of a state."""

from __future__ import annotations

from math import isclose, prod
from typing import Any

from elman.course.exercise import Exercise
from elman.course.judges import expect_number
from elman.number_format import format_number

_CHANCES = {"king": 0.1, "prince": 0.06, "price": 0.02, "queen": 0.5, "princess": 0.12, "spring": 0.2}


def _judge_completions(answer: Any) -> str | None:
    given = [(word, float(chance)) for word, chance in answer(dict(_CHANCES), "pri", 2)]
    found = [word for word, _ in given]
    if "spring" in found:
        return "'spring' only contains what was typed; a completion begins with it."
    if len(found) != 2:
        return f"Two completions were asked for, and there are {len(found)}."
    if found != ["princess", "prince"]:
        return f"The best two are not {found[0]!r} and {found[1]!r}, in this order."
    chances = [chance for _, chance in given]
    if isclose(sum(chances), 1.0):
        return "All words with this beginning sum to one, also those that are not shown."
    if not all(map(isclose, chances, (0.6, 0.3))):
        return "The words are right. Divide by the sum over all words that begin so."
    everything = answer(dict(_CHANCES), "", 1)
    return None if [*everything] == [("queen", 0.5)] else "With nothing typed yet, every word is a completion."


def _next_letter(text: str) -> dict[str, float]:
    """A small world: after "the ", "qu" becomes "queen" or "quest"."""
    typed = text.removeprefix("the ")
    known = {"q": {"u": 0.75}, "qu": {"e": 0.9, "i": 0.1}, "que": {"e": 0.7, "s": 0.3}, "quee": {"n": 0.8}}
    known |= {"queen": {" ": 0.5, "s": 0.5}, "queens": {" ": 0.25}, "": {"q": 0.2, "k": 0.8}}
    return known.get(typed, {}) if text.startswith("the ") else {}


def _judge_word_chance(answer: Any) -> str | None:
    given = float(answer(_next_letter, "the ", "qu", "queen"))
    letters = (0.9, 0.7, 0.8)
    right = prod(letters) * 0.5
    mistakes = {
        prod(letters): "The end of the word is missing: this is the chance of all words that begin so.",
        right * 0.2 * 0.75: "The letters that were typed already are certain; do not count them again.",
        sum(letters) + 0.5: "Chances of things that must all happen are multiplied, not added.",
    }
    if isclose(given, right):
        longer = float(answer(_next_letter, "the ", "q", "queens"))
        return (
            None if isclose(longer, 0.75 * right * 0.25) else "With 'q' typed and 'queens' wanted it is wrong."
        )
    near = (said for wrong, said in mistakes.items() if isclose(given, wrong))
    want, have = format_number(right), format_number(given)
    return next(near, f"For 'queen' after 'the qu' it should be {want} in our example, and it is {have}.")


EXERCISES = (
    Exercise(
        number="07.1",
        asks="Return the k most probable words that begin with what was typed, with their probabilities.",
        judge=_judge_completions,
        hints=(
            "`word.startswith(typed)` says whether a word begins so.",
            "First the sum over all words that begin so, then divide; only then take the best k.",
            "`sorted(pairs, key=lambda pair: -pair[1])[:k]` are the best k pairs.",
        ),
        why="What was typed is certain; the rest is divided among the words that are still possible.",
    ),
    Exercise(
        number="07.2",
        asks="Return the probability that the begun word becomes this one, letter by letter.",
        judge=_judge_word_chance,
        hints=(
            "Go through the letters of the word that are not typed yet, and then its end.",
            'The rest is `word[len(typed):] + " "`; each letter is predicted from all text before it.',
            "Begin with 1 and `text = before + typed`; at each letter multiply, then `text += letter`.",
        ),
        why="A product of letters, with the end of the word as the last of them.",
    ),
    Exercise(
        number="07.3",
        asks="How many bytes is the state of two LSTM layers of 256 units?",
        judge=expect_number(
            2 * 2 * 256 * 4,
            {
                2 * 256 * 4: "An LSTM has two states in each layer.",
                2 * 2 * 256: "These are the numbers; each takes four bytes.",
                2 * 256: "Count the states of a layer, and four bytes for each number.",
                4 * 256 * 4 * 2: "Gates are computed anew at each step; only h and c are kept.",
            },
        ),
        hints=(
            "Which vectors does an LSTM carry from step to step? Notebook 04 has its equations.",
            "Layers × states of a layer × units × bytes of a number.",
        ),
        why="A few kilobytes, however long the text is.",
    ),
)
