"""Answers to the exercises of notebook 12, right ones and wrong ones."""

from __future__ import annotations

from typing import Any


def risk(log_probs: Any, costs: Any, alpha: float) -> Any:
    return ((alpha * log_probs).softmax(0) * costs).sum()


def risk_without_norm(log_probs: Any, costs: Any, alpha: float) -> Any:
    return (log_probs.exp() ** alpha * costs).sum()


def risk_without_alpha(log_probs: Any, costs: Any, alpha: float) -> Any:
    return (log_probs.softmax(0) * costs).sum()


def mean_cost(log_probs: Any, costs: Any, alpha: float) -> Any:
    return costs.mean()


def risk_of_each(log_probs: Any, costs: Any, alpha: float) -> Any:
    return (alpha * log_probs).softmax(0) * costs


RIGHT: dict[str, Any] = {"12.1": 11, "12.2": 0.60, "12.3": risk, "12.4": ["A"]}
WRONG: dict[str, list[Any]] = {
    "12.1": [10, 12, 2, 1],
    "12.2": [0.5, 0.98, 0.40],
    "12.3": [risk_without_norm, risk_without_alpha, mean_cost, risk_of_each],
    "12.4": [["A", "C"], ["B"], ["A", "B", "C"], []],
}
