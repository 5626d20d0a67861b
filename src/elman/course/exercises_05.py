"""Exercises of notebook 05: both directions, what may use them, widths, both ends of a text."""

from __future__ import annotations

from typing import Any

import torch

from elman.cells import GRU
from elman.course.exercise import Exercise
from elman.course.judges import differs
from elman.layers import RNN, BiRNN

_FINISHED = {"a", "c", "e"}  # texts that are there as a whole


def _judge_directions(answer: Any) -> str | None:
    ahead, back = GRU(3, 2), GRU(3, 2)
    xs = torch.randn(2, 5, 3)
    right = BiRNN(ahead, back)(xs)[0]
    given = answer(lambda x: RNN(ahead)(x)[0], lambda x: RNN(back)(x)[0], xs)
    mistake = differs(given, right)
    if mistake is None or not isinstance(given, torch.Tensor) or given.shape != right.shape:
        return mistake
    if not torch.allclose(given[..., :2], right[..., :2], atol=1e-5):
        return "The first half should be the forward outputs, as they are."
    if torch.allclose(given[..., 2:].flip(1), right[..., 2:], atol=1e-5):
        return "The backward outputs are in the order in which they were computed: the last word first."
    return "The forward half is right; the backward network should read the last word first."


def _judge_finished(answer: Any) -> str | None:
    if isinstance(answer, str):
        answer = set(answer) & set("abcde")
    given = set(answer)
    if given - set("abcde"):
        return "The answer is a set of the letters a to e."
    if future := sorted(given - _FINISHED):
        return f"In {' and '.join(future)} the words to the right do not exist yet when they are needed."
    missing = len(_FINISHED - given)
    return f"{missing} more can use both directions." if missing else None


def _judge_widths(answer: Any) -> str | None:
    reads, output = answer
    if reads in (64, 32):
        return "The second layer reads the output of the first one, with both of its directions."
    if reads == 100:
        return "The word vectors are read by the first layer only."
    if output == 32:
        return "The output has the features of both directions."
    return None if (reads, output) == (128, 64) else "At least one of the two numbers is not right."


def _judge_ends(answer: Any) -> str | None:
    layer = BiRNN(GRU(3, 2), GRU(3, 2))
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    xs = torch.randn(2, 5, 3)
    ys = layer(xs, mask)[0]
    given, right = answer(ys, mask), layer.last_output(xs, mask)
    mistake = differs(given, right)
    if mistake is None or not isinstance(given, torch.Tensor) or given.shape != right.shape:
        return mistake
    if torch.allclose(given[0], ys[0, -1], atol=1e-5):
        return "This is y_n: its backward half has read the last word only."
    if torch.allclose(given[0], right[0], atol=1e-5):
        return "The text without padding is right; the shorter one ends before the last column."
    return "The values are not right: forward half of the last word, backward half of the first."


EXERCISES = (
    Exercise(
        number="05.1",
        asks="Return the outputs of both directions side by side.",
        judge=_judge_directions,
        hints=(
            "`xs.flip(1)` turns the steps round.",
            "Outputs of the backward network come in reverse order, too: turn them back.",
            "Three steps: read forward; flip, read, flip; then `torch.cat` along the last dimension.",
        ),
        why="At each step the forward output knows what came before, the backward output what comes after.",
    ),
    Exercise(
        number="05.2",
        asks="Which of the five can use a bidirectional network?",
        judge=_judge_finished,
        hints=(
            "Ask for each: is the whole text there before the first answer is needed?",
            "A text that is read may be read from both ends; a text that is being written may not.",
        ),
        why="What is finished can be read from both ends; what is being written has no right context yet.",
    ),
    Exercise(
        number="05.3",
        asks="How many features does a cell of the second layer read, and how many has the output?",
        judge=_judge_widths,
        hints=(
            "Side by side, the widths of the two directions are added.",
            "Draw it: word vectors, two cells, their outputs joined, two cells, their outputs joined.",
        ),
        why="Each cell of the second layer reads both directions of the first one.",
    ),
    Exercise(
        number="05.4",
        asks="Return the forward state of each text's last word with the backward state of its first.",
        judge=_judge_ends,
        hints=(
            "The first half of the features is forward, the second half is backward: `ys.chunk(2, dim=-1)`.",
            "`mask.sum(1)` is the number of real words of each text; the last one has the place one less.",
            "`forward[torch.arange(len(ys)), last]` takes one step of each text; the first word is at place 0.",
        ),
        why="Each direction is taken where it has read the whole text.",
    ),
)
