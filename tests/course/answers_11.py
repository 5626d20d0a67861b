"""Answers to the exercises of notebook 11, right ones and wrong ones."""

from __future__ import annotations

from typing import Any


def beam_step(beam: Any, next_log_probs: Any, width: int) -> Any:
    new = [((*words, word), p + q) for words, p in beam for word, q in next_log_probs(words).items()]
    return sorted(new, key=lambda pair: -pair[1])[:width]


def best_of_each(beam: Any, next_log_probs: Any, width: int) -> Any:
    new = []
    for words, p in beam:
        word, q = max(next_log_probs(words).items(), key=lambda pair: pair[1])
        new.append(((*words, word), p + q))
    return sorted(new, key=lambda pair: -pair[1])[:width]


def worst_first(beam: Any, next_log_probs: Any, width: int) -> Any:
    return beam_step(beam, next_log_probs, width)[::-1]


def by_last_word(beam: Any, next_log_probs: Any, width: int) -> Any:
    new = [((*words, word), q) for words, _ in beam for word, q in next_log_probs(words).items()]
    return sorted(new, key=lambda pair: -pair[1])[:width]


def keep_all(beam: Any, next_log_probs: Any, width: int) -> Any:
    return beam_step(beam, next_log_probs, 100)


RIGHT: dict[str, Any] = {"11.1": (0.3, 0.36), "11.2": beam_step, "11.3": ["red", "blue"], "11.4": 0.5}
WRONG: dict[str, list[Any]] = {
    "11.1": [(0.36, 0.3), (0.3, 0.3), (0.6, 0.9), (1.1, 1.3)],
    "11.2": [best_of_each, worst_first, by_last_word, keep_all],
    "11.3": [["red", "blue", "green"], ["red"], ["red", "blue", "green", "black"]],
    "11.4": [2.0, 0.25, 1.0],
}
