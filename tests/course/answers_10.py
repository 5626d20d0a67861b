"""Answers to the exercises of notebook 10, right ones and wrong ones."""

from __future__ import annotations

from typing import Any


def attend(query: Any, states: Any) -> Any:
    weights = (states @ query).softmax(0)
    return weights, weights @ states


def attend_without_softmax(query: Any, states: Any) -> Any:
    scores = states @ query
    return scores, scores @ states


def attend_to_the_best(query: Any, states: Any) -> Any:
    weights = ((states @ query) == (states @ query).max()).float()
    return weights, weights @ states


def attend_with_mean(query: Any, states: Any) -> Any:
    return (states @ query).softmax(0), states.mean(0)


def attend_by_units(query: Any, states: Any) -> Any:
    weights = (states * query).sum(0).softmax(0)
    return weights, weights * query


def context_alone(query: Any, states: Any) -> Any:
    return attend(query, states)[1]


RIGHT: dict[str, Any] = {"10.1": attend, "10.2": "mean", "10.3": (48, 40)}
WRONG: dict[str, list[Any]] = {
    "10.1": [attend_without_softmax, attend_to_the_best, attend_with_mean, attend_by_units, context_alone],
    "10.2": ["last", "sum", "maximum"],
    "10.3": [(48, 20), (40, 48), (20, 48), (48, 48)],
}
