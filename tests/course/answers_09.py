"""Answers to the exercises of notebook 09, right ones and wrong ones."""

from __future__ import annotations

from typing import Any


def write(step: Any, state: Any, begin: int, end: int, limit: int) -> list[int]:
    tokens: list[int] = []
    token = begin
    while len(tokens) < limit:
        state, logits = step(state, token)
        token = int(logits.argmax())
        if token == end:
            break
        tokens.append(token)
    return tokens


def write_with_end(step: Any, state: Any, begin: int, end: int, limit: int) -> list[int]:
    tokens = [begin]
    while tokens[-1] != end and len(tokens) <= limit:
        state, logits = step(state, tokens[-1])
        tokens.append(int(logits.argmax()))
    return tokens[1:]


def write_without_limit(step: Any, state: Any, begin: int, end: int, limit: int) -> list[int]:
    return write(step, state, begin, end, 100)


def write_the_same(step: Any, state: Any, begin: int, end: int, limit: int) -> list[int]:
    return [int(step(state, begin)[1].argmax()) for _ in range(limit)]


def write_with_begin(step: Any, state: Any, begin: int, end: int, limit: int) -> list[int]:
    return [begin, *write(step, state, begin, end, limit)]


RIGHT: dict[str, Any] = {
    "09.1": ["eighty one", "two hundred sixty", "nine hundred thirty three"],
    "09.2": write,
    "09.3": 56,
}
WRONG: dict[str, list[Any]] = {
    "09.1": [
        ["eighty one", "nine hundred thirty three"],
        ["eighty one", "two hundred sixty", "nine hundred thirty three", "five hundred fourteen"],
        ["six hundred", "twelve"],
    ],
    "09.2": [write_with_end, write_without_limit, write_the_same, write_with_begin],
    "09.3": [36, 104, 40, 16],
}
