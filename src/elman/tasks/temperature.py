"""Temperature scaling (Guo et al. 2017): p = softmax(z / T), with the one T that fits validation data best.

T changes how sure the answers are, never which ones they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import exp, log, sqrt
from typing import Any, NamedTuple

import torch

from elman.metrics import calibration_error
from elman.number_format import format_number
from elman.shapes import Int, Tensor

FEWEST = 50  # answers; fewer say too little of the temperature, it stays 1
LOWEST, HIGHEST = 0.1, 10.0


class Quality(NamedTuple):
    """How good probabilities are: the mean of -log p(right answer) in nats, and the ECE in percent."""

    nll: float
    ece: float


@dataclass(frozen=True)
class Calibration:
    """A temperature, and how good the probabilities of the validation data were before it and with it."""

    temperature: float = 1.0
    before: Quality | None = None
    after: Quality | None = None

    def facts(self, of: str = "") -> list[str]:
        """For the model card; nothing where no data was looked at."""
        if self == Calibration():
            return []
        error = ""
        if self.before and self.after:
            error = f" (validation ECE {self.before.ece:.2f} before, {self.after.ece:.2f} after)"
        return [f"temperature{of}: {format_number(self.temperature, 3)}{error}"]

    def to_json(self) -> dict[str, Any]:
        """What JSON can hold."""
        fitted = {"before": self.before, "after": self.after}
        return {"temperature": self.temperature} | {n: q._asdict() for n, q in fitted.items() if q}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Calibration:
        """The calibration that ``to_json`` gave."""
        before, after = (Quality(**stored[n]) if n in stored else None for n in ("before", "after"))
        temperature = float(stored["temperature"])
        if not 0 < temperature < float("inf"):
            raise ValueError(f"temperature is {temperature}")
        return cls(temperature, before, after)


def fit_temperature(
    log_probs: Callable[[float], Tensor], gold: Int[Tensor, " N"], answers: Int[Tensor, " N"]
) -> Calibration:
    """The temperature of the least NLL, or 1 where with it NLL or ECE would be worse, or examples are few.

    ``log_probs`` gives (N, Y) at a temperature; ``answers`` are those whose probability is the confidence.
    The targets are smoothed as Platt (1999) smooths them: validation data without an error would otherwise
    ask for probabilities of 1.
    """
    right, smoothing = (answers == gold).tolist(), 1 / (len(gold) + 2)

    def loss(log_temperature: float) -> float:
        each = log_probs(exp(log_temperature))
        likely = each.gather(1, gold[:, None]).mean().item()
        return -(1 - smoothing) * likely - smoothing * each.mean().item()

    def quality(temperature: float) -> Quality:
        each = log_probs(temperature)
        sure = each.gather(1, answers[:, None])[:, 0].exp().clamp(max=1).tolist()
        return Quality(-each.gather(1, gold[:, None]).mean().item(), calibration_error(sure, right))

    if len(gold) < FEWEST:
        return Calibration()
    before = quality(1.0)
    temperature = exp(find_minimum(loss, log(LOWEST), log(HIGHEST)))
    after = quality(temperature)
    if not (after.nll <= before.nll and after.ece <= before.ece):  # neither where a number is none
        return Calibration(1.0, before, before)
    return Calibration(temperature, before, after)


def find_minimum(f: Callable[[float], float], low: float, high: float, *, steps: int = 25) -> float:
    """Where a function that has one minimum between two bounds has it: golden-section search."""
    share = (sqrt(5) - 1) / 2
    left, right = high - share * (high - low), low + share * (high - low)
    at_left, at_right = f(left), f(right)
    for _ in range(steps):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - share * (high - low)
            at_left = f(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + share * (high - low)
            at_right = f(right)
    return (low + high) / 2


def mean_temperature(calibrations: list[Calibration]) -> Calibration:
    """That of a mean of models: the geometric mean of theirs, which nobody has checked on data."""
    logs = [log(c.temperature) for c in calibrations]
    return Calibration(exp(sum(logs) / len(logs)))


def scaled_log_softmax(logits: Tensor, temperature: float) -> Tensor:
    """log softmax(z / T) in double precision; never above 0, so that no probability is above 1."""
    return (logits.double() / temperature).log_softmax(-1).clamp(max=0)


def stacked_log_sigmoid(logits: Tensor, temperature: float) -> Tensor:
    """log p(no) and log p(yes) of each of N logits, (N, 2)."""
    z = logits.double() / temperature
    return torch.stack([torch.nn.functional.logsigmoid(-z), torch.nn.functional.logsigmoid(z)], -1)
