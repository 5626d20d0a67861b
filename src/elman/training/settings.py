"""How to train: every option one field."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Literal

from elman.errors import ConfigError


@dataclass(frozen=True)
class Settings:
    """Options of ``fit``; where 0 switches one off, its comment says so."""

    optimizer: Literal["adamw", "sgd", "ntasgd"] = "adamw"
    lr: float = 1e-3  # the highest learning rate of the schedule
    weight_decay: float = 0.01  # of matrices; biases and gains are left alone
    momentum: float = 0.9  # of sgd and ntasgd; the first moment's decay (β₁) of adamw
    beta2: float = 0.999  # the second moment's decay of adamw
    trigger: int = 5  # ntasgd averages once this many evaluations brought nothing better

    schedule: Literal["constant", "cosine", "plateau", "one_cycle"] = "cosine"
    warmup: float = 0.05  # share of the run in which the learning rate rises; 0: none
    plateau: int = 1  # evaluations without a better one until the plateau schedule lowers the rate
    factor: float = 0.5  # by which it does

    epochs: int = 10
    updates: int = 0  # length of the run in updates instead of epochs; 0: in epochs
    minutes: float = 0.0  # stop after so long, the schedule at its end, too; 0: no limit
    patience: int = 0  # stop after so many evaluations without a better one; 0: never

    clip: float = 1.0  # largest norm of the gradient; 0: any
    accumulate: int = 1  # batches an update
    average: float = 0.0  # decay of an exponential mean of the weights; 0: none
    evaluate_every: int = 0  # updates; 0: at the end of each epoch
    checkpoint_minutes: float = 10.0  # besides those at evaluations; 0: none besides
    precision: Literal["float32", "float16"] = "float32"
    graph: bool = False  # replay the update as a CUDA graph; needs batches of one shape
    seed: int = 0

    def __post_init__(self) -> None:
        for names, fits, right in _RANGES:
            for name in names.split():
                value = getattr(self, name)
                if not fits(value):
                    raise ConfigError(f"{name} is {value}; it must be {right}")
        if self.optimizer == "ntasgd" and self.average:
            raise ConfigError(
                f"average is {self.average}; it must be 0 with ntasgd, which averages"
            )


_RANGES: tuple[tuple[str, Callable[[float], bool], str], ...] = (
    ("lr", lambda x: 0 < x < inf, "above 0"),
    ("factor", lambda x: 0 < x < 1, "between 0 and 1"),
    ("momentum beta2 warmup average", lambda x: 0 <= x < 1, "at least 0 and below 1"),
    ("weight_decay minutes clip checkpoint_minutes", lambda x: 0 <= x < inf, "at least 0"),
    ("updates patience evaluate_every seed", lambda x: x >= 0, "at least 0"),
    ("epochs accumulate trigger plateau", lambda x: x >= 1, "at least 1"),
)
