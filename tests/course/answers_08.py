"""Answers to the exercises of notebook 08."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any


def _words(emissions: Any, transitions: Any, path: Any) -> Any:
    return sum(emissions[i][tag] for i, tag in enumerate(path))


def _moves(emissions: Any, transitions: Any, path: Any) -> Any:
    return sum(transitions[a][b] for a, b in pairwise(path))


def _score(emissions: Any, transitions: Any, path: Any) -> Any:
    return _words(emissions, transitions, path) + _moves(emissions, transitions, path)


def _backwards(emissions: Any, transitions: Any, path: Any) -> Any:
    return _words(emissions, transitions, path) + sum(transitions[b][a] for a, b in pairwise(path))


def _best_path(emissions: Any, transitions: Any) -> list[int]:
    best, before = emissions[0], []
    for emission in emissions[1:]:
        ways = best[:, None] + transitions
        before.append(ways.argmax(0))
        best = ways.max(0).values + emission
    path = [int(best.argmax())]
    for kept in reversed(before):
        path.insert(0, int(kept[path[0]]))
    return path


def _word_by_word(emissions: Any, transitions: Any) -> list[int]:
    tags: list[int] = emissions.argmax(1).tolist()
    return tags


def _left_to_right(emissions: Any, transitions: Any) -> list[int]:
    path = [int(emissions[0].argmax())]
    for emission in emissions[1:]:
        path.append(int((transitions[path[-1]] + emission).argmax()))
    return path


def _moves_alone(emissions: Any, transitions: Any) -> list[int]:
    return _best_path(0 * emissions, transitions)


def _wrong_way(emissions: Any, transitions: Any) -> list[int]:
    return _best_path(emissions, transitions.T)


def _one_by_one(emissions: Any, transitions: Any) -> list[int]:
    paths = product(range(len(transitions)), repeat=len(emissions))
    return list(max(paths, key=lambda path: float(_score(emissions, transitions, path))))


RIGHT: dict[str, Any] = {"08.1": 9_765_625, "08.2": _score, "08.3": _best_path, "08.4": {"b", "d"}}
WRONG: dict[str, list[Any]] = {
    "08.1": [50, 100_000, 250],
    "08.2": [_words, _moves, _backwards],
    "08.3": [_word_by_word, _left_to_right, _moves_alone, _wrong_way, _one_by_one],
    "08.4": [{"b"}, {"b", "c", "d"}, {"b", "d", "e"}],
}
