"""The exercises of notebook 11: decoding."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from elman.course.exercise import Exercise
from elman.course.judges import expect_number

Words = tuple[str, ...]
_NEXT: dict[Words, dict[str, float]] = {
    ("two",): {"thousand": 0.7, "double": 0.3},
    ("twenty",): {"oh": 0.95, "seven": 0.05},
    ("thirty",): {"oh": 0.5, "seven": 0.5},
}
_BEAM = [(("two",), math.log(0.5)), (("twenty",), math.log(0.4)), (("thirty",), math.log(0.1))]


def _judge_greedy_and_best(answer: Any) -> str | None:
    if not isinstance(answer, list | tuple) or len(answer) != 2:
        return "The answer is two numbers: (greedy, best)."
    greedy, best = (round(float(number), 6) for number in answer)
    if (greedy, best) == (0.36, 0.3):
        return "These are the right numbers in the wrong order: greedy first."
    if greedy != 0.3:
        return "Greedy takes a, and then the most probable word after a; multiply the two probabilities."
    return None if best == 0.36 else "There is a more probable text. Multiply along every path."


def _log_probs(words: Words) -> dict[str, float]:
    return {word: math.log(p) for word, p in _NEXT[tuple(words)].items()}


def _judge_beam_step(beam_step: Callable[..., Any]) -> str | None:
    for width in (2, 4):
        new = [(tuple(words), float(log_p)) for words, log_p in beam_step(list(_BEAM), _log_probs, width)]
        mistake = _compare_beams(new, width)
        if mistake is not None:
            return mistake
    return None


def _compare_beams(new: list[tuple[Words, float]], width: int) -> str | None:
    """What is wrong with a new beam: how many there are, what they say, their order, their scores."""
    right: dict[Words, float] = {
        (*words, word): p + q for words, p in _BEAM for word, q in _log_probs(words).items()
    }
    best = sorted(right, key=lambda words: -right[words])[:width]
    given = [words for words, _ in new]
    if len(given) != width:
        return f"With width={width} there should be {width} hypotheses, and there are {len(given)}."
    if any(words not in right for words in given):
        return "Each new hypothesis has the old words and one more, in a tuple."
    if {*given} != {*best}:
        return (
            "Not the best continuations are kept. All hypotheses compete with each other, by their whole sum."
        )
    if given != best:
        return "The right ones are kept, but the best should come first."
    if any(abs(log_p - right[words]) > 1e-6 for words, log_p in new):
        return "The new log-probability is the old one plus that of the new word."
    return None


def _judge_kept(answer: Any) -> str | None:
    if not isinstance(answer, list | tuple | set):
        return "The answer is a list of words."
    given = {str(word).strip().lower() for word in answer}
    if "black" in given:
        return "black is too far from the best, and there is no place for it."
    if "green" in given:
        return "There is a place for green, but look at the factor: is 0.14 within a factor of 2 of 0.30?"
    if given == {"red"}:
        return "One more is near enough to the best."
    return None if given == {"red", "blue"} else "Some words are none of the four, or the best is missing."


EXERCISES = (
    Exercise(
        number="11.1",
        asks="How probable are the text of greedy and the best text?",
        judge=_judge_greedy_and_best,
        hints=(
            "The probability of a text is the product of the probabilities of its words.",
            "There are five texts: ac, ad, ae, bf and bg. Compute all five.",
        ),
        why="A good beginning may have many weak continuations, and greedy cannot know.",
    ),
    Exercise(
        number="11.2",
        asks="Write one step of beam search.",
        judge=_judge_beam_step,
        hints=(
            "First make a list of all continuations of all hypotheses; two loops are enough.",
            "A continuation is ((*words, word), log_p + log_q).",
            "With sorted(..., key=lambda pair: -pair[1]) the best comes first; take the first width of them.",
        ),
        why="All continuations compete, so one hypothesis may have several children or none.",
    ),
    Exercise(
        number="11.3",
        asks="Which hypotheses does a beam of width 3 with factor 2 keep?",
        judge=_judge_kept,
        hints=(
            "Two rules must hold: there is a place in the beam, and p times the factor reaches the best p.",
            "Compute the smallest p that is allowed: the best p divided by the factor.",
        ),
        why="The width is only the upper limit; the factor decides where the model is certain.",
    ),
    Exercise(
        number="11.4",
        asks="At which α have both answers the same score?",
        judge=expect_number(
            0.5,
            {
                2.0: "You found how many times as long it would have to be; solve for the exponent.",
                0.25: "That is the ratio of the lengths; α is an exponent.",
                1.0: "With α = 1 the scores are -1/2 and -2/8: the long answer has won already.",
            },
            tolerance=0.005,
        ),
        hints=(
            "Write the equation: -1 / 2^α = -2 / 8^α.",
            "Bring both powers to one side: 8^α / 2^α is (8/2)^α.",
        ),
        why="(8/2)^α must equal the ratio of the log-probabilities.",
    ),
)
