"""Answers to the exercises of notebook 07."""

from __future__ import annotations

from typing import Any


def _complete(chances: Any, typed: str, k: int) -> Any:
    fitting = {word: p for word, p in chances.items() if word.startswith(typed)}
    total = sum(fitting.values())
    return [(word, fitting[word] / total) for word in sorted(fitting, key=lambda word: -fitting[word])][:k]


def _not_divided(chances: Any, typed: str, k: int) -> Any:
    return sorted(((w, p) for w, p in chances.items() if w.startswith(typed)), key=lambda pair: -pair[1])[:k]


def _divided_by_the_shown(chances: Any, typed: str, k: int) -> Any:
    best = _not_divided(chances, typed, k)
    return [(word, p / sum(chance for _, chance in best)) for word, p in best]


def _contains(chances: Any, typed: str, k: int) -> Any:
    return sorted(((w, p) for w, p in chances.items() if typed in w), key=lambda pair: -pair[1])[:k]


def _unsorted(chances: Any, typed: str, k: int) -> Any:
    return sorted(_complete(chances, typed, 99))[:k]


def _word_chance(next_letter: Any, before: str, typed: str, word: str) -> float:
    chance, text = 1.0, before + typed
    for letter in word[len(typed) :] + " ":
        chance *= next_letter(text)[letter]
        text += letter
    return chance


def _without_end(next_letter: Any, before: str, typed: str, word: str) -> float:
    return _word_chance(next_letter, before, typed, word) / next_letter(before + word)[" "]


def _from_the_first_letter(next_letter: Any, before: str, typed: str, word: str) -> float:
    return _word_chance(next_letter, before, "", word)


def _added(next_letter: Any, before: str, typed: str, word: str) -> float:
    ends = range(len(typed), len(word) + 1)
    return sum(next_letter(before + word[:n])[(word + " ")[n]] for n in ends)


RIGHT: dict[str, Any] = {"07.1": _complete, "07.2": _word_chance, "07.3": 4096}
WRONG: dict[str, list[Any]] = {
    "07.1": [_not_divided, _divided_by_the_shown, _contains, _unsorted],
    "07.2": [_without_end, _from_the_first_letter, _added],
    "07.3": [2048, 1024, 512, 8192],
}
