"""Exercises of notebook 08: how many tag sequences, the score of one, the best one, ill-formed ones."""

from __future__ import annotations

from itertools import pairwise
from math import isclose
from time import process_time
from typing import Any

import torch

from elman.course.exercise import Exercise
from elman.course.judges import expect_number
from elman.layers.crf import CRF
from elman.number_format import format_number
from elman.shapes import Tensor

_EMISSIONS = torch.tensor([[1.0, 0.5, 0.0], [0.25, 2.0, 4.0], [8.0, 3.0, 0.75]])
_TRANSITIONS = torch.tensor([[0.125, 16.0, 32.0], [64.0, 5.0, 6.0], [7.0, 9.0, 11.0]])
_ILL_FORMED = {"b", "d"}
_SECONDS = 0.25  # far more than Viterbi needs for seven words, far less than trying all of their paths


def _judge_score(answer: Any) -> str | None:
    path = [0, 2, 1]
    emitted, moved = 1.0 + 4.0 + 3.0, 32.0 + 9.0
    given = float(answer(_EMISSIONS, _TRANSITIONS, path))
    mistakes = {
        emitted: "These are the words alone; the transitions between neighbours are missing.",
        moved: "These are the transitions alone; the scores of the words are missing.",
        emitted + 7.0 + 6.0: "The transitions go the wrong way: transitions[a][b] is that of b after a.",
        emitted * moved: "Scores are logarithms: they are added.",
    }
    if isclose(given, emitted + moved):
        alone = float(answer(_EMISSIONS[:1], _TRANSITIONS, [1]))
        return (
            None
            if isclose(alone, 0.5)
            else "A sentence of one word has no transition; its score is that of the word."
        )
    near = (said for wrong, said in mistakes.items() if isclose(given, wrong))
    want, have = format_number(emitted + moved), format_number(given)
    return next(near, f"The path {path} should have the score {want} in our example, not {have}.")


def _judge_best_path(answer: Any) -> str | None:
    greedy = worse = 0
    for _ in range(10):
        emissions, transitions = torch.randn(5, 3), 2 * torch.randn(3, 3)
        right, given = _viterbi(emissions, transitions), [int(tag) for tag in answer(emissions, transitions)]
        if len(given) != 5:
            return f"A sentence of five words has five tags, and the path has {len(given)}."
        if _score(emissions, transitions, given) < _score(emissions, transitions, right) - 1e-4:
            greedy += given == emissions.argmax(1).tolist()
            worse += 1
    if worse and greedy == worse:
        return "This takes the best tag of each word; the transitions are not used."
    if worse:
        return f"In {worse} of 10 sentences there is a better path."
    began = process_time()
    answer(torch.randn(7, 4), torch.randn(4, 4))
    quick = process_time() - began < _SECONDS
    return None if quick else "The paths are right, but it tries all of them: 20 words would take forever."


def _viterbi(emissions: Tensor, transitions: Tensor) -> list[int]:
    crf = CRF(len(transitions))
    crf.transitions.data, crf.begin.data, crf.end.data = transitions, torch.zeros(3), torch.zeros(3)
    tags: list[int] = crf.viterbi(emissions[None], torch.ones(1, 5, dtype=torch.bool)).tags[0].tolist()
    return tags


def _score(emissions: Tensor, transitions: Tensor, path: list[int]) -> float:
    moved = sum(float(transitions[a, b]) for a, b in pairwise(path))
    return moved + sum(float(row[tag]) for row, tag in zip(emissions, path, strict=True))


def _judge_ill_formed(answer: Any) -> str | None:
    given = set(answer)
    if given - set("abcde"):
        return "The answer is a set of the letters a to e."
    if "c" in given - _ILL_FORMED:
        return "In c, one place ends where the next begins: a B may follow anything."
    if wrong := sorted(given - _ILL_FORMED):
        return f"{wrong[0]} is well-formed: every I continues a span of its own kind."
    return "One is missing: look at every I, and at the tag before it." if given != _ILL_FORMED else None


EXERCISES = (
    Exercise(
        number="08.1",
        asks="How many tag sequences are there for 10 words and 5 tags?",
        judge=expect_number(
            5**10,
            {
                50: "Each word may have any tag, whatever the others have: the choices are multiplied.",
                10**5: "The other way round: each of the ten words has five choices.",
                5 * 10 * 5: "This is what Viterbi looks at; all sequences are far more.",
            },
        ),
        hints=("One word has 5 sequences, two words have 5 · 5.", "Five choices, ten times over: a power."),
        why="Nobody wants to add them one by one: hence the forward algorithm.",
    ),
    Exercise(
        number="08.2",
        asks="Return the score of a path: its emissions and its transitions.",
        judge=_judge_score,
        hints=(
            "Two sums: over the words, and over the pairs of neighbours.",
            "`itertools.pairwise(path)` gives the pairs of neighbours, the earlier tag first.",
        ),
        why="A sum over words and neighbours: that is why the best path can be found word by word.",
    ),
    Exercise(
        number="08.3",
        asks="Return the path with the highest score.",
        judge=_judge_best_path,
        hints=(
            "Go from word to word and keep, for each tag, the best score of all paths that end with it.",
            "Keep also which tag came before it on that best path.",
            "At the end take the best last tag, and follow the kept tags back to the first word.",
        ),
        why="This is Viterbi's algorithm: words × tags × tags steps instead of tags to the power of words.",
    ),
    Exercise(
        number="08.4",
        asks="Which of the five sequences are ill-formed in BIO?",
        judge=_judge_ill_formed,
        hints=("An I must continue something.", "Before an I-X stands a B-X or an I-X, with the same X."),
        why="Both have an I that continues no span of its kind.",
    ),
)
