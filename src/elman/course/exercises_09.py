"""The exercises of notebook 09: encoder and decoder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from elman.course.exercise import Exercise
from elman.course.judges import expect_number
from elman.shapes import Tensor

_EARLY = {"eighty one", "two hundred sixty", "nine hundred thirty three"}
_READY = {"six hundred", "twelve", "five hundred fourteen"}

_NEXT = {0: 3, 3: 4, 4: 2, 2: 5, 5: 1}  # what a small decoder writes after each token: 0 begins, 1 ends


def _judge_early(answer: Any) -> str | None:
    if not isinstance(answer, list | tuple | set):
        return "The answer is a list of some of the six numbers in words."
    given = {str(one).strip().lower() for one in answer}
    if strange := given - _EARLY - _READY:
        return f"{min(strange)!r} is none of the six numbers."
    if ready := given & _READY:
        return f"In {min(ready)!r} each German word follows from the English words that were read before it."
    if given == _EARLY - {"two hundred sixty"}:
        return "One is missing: a number that ends where others go on."
    return None if given == _EARLY else "What you named is right, but there are more."


def _judge_writer(write: Callable[..., Any]) -> str | None:
    for limit, right in ((10, [3, 4, 2, 5]), (2, [3, 4])):
        answer = write(_small_step, 0, 0, 1, limit)
        if answer is None:
            return "The function returns nothing: end it with return."
        mistake = _find_mistake([int(token) for token in answer], right, limit)
        if mistake is not None:
            return mistake
    if list(write(_small_step, 0, 5, 1, 10)):
        return "Where the first token that is written is the end, the list should be empty."
    return None


def _small_step(state: int, token: int) -> tuple[int, Tensor]:
    """A decoder that remembers how many tokens it has read, and fails if its state is not passed on."""
    logits = torch.zeros(6)
    logits[_NEXT[int(token)]] = 1.0
    return state + 1, logits


def _find_mistake(answer: list[int], right: list[int], limit: int) -> str | None:
    if answer == right:
        return None
    if answer == [*right, 1]:
        return "The end token is in your list; leave it out."
    if answer[:1] == [0]:
        return "The list begins with the first input. Only what is written belongs into it."
    if len(answer) > limit:
        return f"With limit={limit} the list has {len(answer)} tokens."
    if len(set(answer)) == 1 and len(answer) > 1:
        return "The same token comes again and again: feed back the token that was just written."
    return f"A small decoder should write {len(right)} tokens here, and your function gives {len(answer)}."


EXERCISES = (
    Exercise(
        number="09.1",
        asks="In which of the six numbers must a transducer write a word before it can know which?",
        judge=_judge_early,
        hints=(
            "A transducer writes its n-th word when it has read n words.",
            "Cover all English words but the first n. Can you say the n-th German word?",
            "German says the ones before the tens. After a ten, who knows whether a one will follow?",
        ),
        why="After a ten the next English word decides, and a transducer has not read it yet.",
    ),
    Exercise(
        number="09.2",
        asks="Write the loop that feeds back the most probable token.",
        judge=_judge_writer,
        hints=(
            "Begin with token = begin and an empty list, and call step in a loop.",
            "The most probable token is logits.argmax(), and int(...) makes it a number.",
            "In each round: step, choose, leave the loop if it is the end, else append it and feed it back.",
        ),
        why="This is greedy decoding, and the decoder decides by itself when it is done.",
    ),
    Exercise(
        number="09.3",
        asks="How many numbers enter the cell of the decoder at each step?",
        judge=expect_number(
            56,
            {
                36: "The encoder has two directions, and c has the last state of both.",
                104: "The own state of the decoder is not counted here.",
                40: "That is c alone; the last word enters, too.",
                16: "That is the last word alone; c enters, too.",
            },
        ),
        hints=(
            "Two vectors stand side by side: the embedding of the last word, and c.",
            "The context has the last state of the forward LSTM and that of the backward LSTM.",
        ),
        why="The token and both directions stand side by side: 16 + 2 · 20.",
    ),
)
