"""Several models as one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from elman.decoding.interfaces import Step
from elman.errors import ConfigError
from elman.shapes import Float, Int, Tensor


def ensemble(steps: Sequence[Step[Any]]) -> Step[tuple[Any, ...]]:
    """The step whose probabilities are the mean of theirs; its state is the tuple of their states."""
    if not steps:
        raise ConfigError("an ensemble needs at least one model")

    def step(
        states: tuple[Any, ...], tokens: Int[Tensor, " B"]
    ) -> tuple[tuple[Any, ...], Float[Tensor, "B V"]]:
        if len(states) != len(steps):
            raise ConfigError(f"{len(steps)} models were given {len(states)} states")
        pairs = [one(state, tokens) for one, state in zip(steps, states, strict=True)]
        log_probs = torch.stack([logits.log_softmax(-1) for _, logits in pairs])
        return tuple(s for s, _ in pairs), log_probs.logsumexp(0) - math.log(len(steps))

    return step
