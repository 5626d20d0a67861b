"""How to train: every option one field."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Literal

from elman.errors import check_option


@dataclass(frozen=True)
class TrainingConfig:
    """Options of ``fit``; where 0 switches one off, its comment says so."""

    optimizer: Literal["adamw", "sgd", "ntasgd"] = "adamw"
    lr: float = 1e-3  # the highest learning rate of the schedule
    weight_decay: float = 0.01  # of matrices; biases and gains are left alone
    beta1: float = 0.9  # adamw: decay of the first moment
    beta2: float = 0.999  # adamw: decay of the second moment
    momentum: float = 0.9  # sgd and ntasgd
    ntasgd_window: int = 5  # ntasgd averages once this many evaluations brought nothing better

    schedule: Literal["constant", "cosine", "plateau", "one_cycle"] = "cosine"
    warmup: float = 0.05  # share of the run in which the learning rate rises; 0: none
    plateau_patience: int = 1  # evaluations without a better one until the plateau schedule lowers the rate
    plateau_factor: float = 0.5  # by which it does

    epochs: int = 10
    updates: int = 0  # length of the run in updates instead of epochs; 0: in epochs
    minutes: float = 0.0  # stop after so long, the schedule at its end, too; 0: no limit
    patience: int = 0  # stop after so many evaluations without a better one; 0: never

    grad_clip: float = 1.0  # largest norm of the gradient; 0: any
    grad_accumulation: int = 1  # batches an update
    ema_decay: float = 0.0  # of an exponential moving average of the weights; 0: none
    evaluate_every: int = 0  # updates; 0: at the end of each epoch
    checkpoint_minutes: float = 10.0  # besides those at evaluations; 0: none besides
    precision: Literal["float32", "float16"] = "float32"
    cuda_graph: bool = False  # replay the update as a CUDA graph; needs batches of one shape
    seed: int = 0

    def __post_init__(self) -> None:
        for names, fits, right in _RANGES:
            for name in names.split():
                value = getattr(self, name)
                check_option(name, value, fits(value), right)
        averages = self.optimizer == "ntasgd" and bool(self.ema_decay)
        check_option("ema_decay", self.ema_decay, not averages, "0 with ntasgd, which averages")


_RANGES: tuple[tuple[str, Callable[[float], bool], str], ...] = (
    ("lr", lambda x: 0 < x < inf, "above 0"),
    ("plateau_factor", lambda x: 0 < x < 1, "between 0 and 1"),
    ("beta1 beta2 momentum warmup ema_decay", lambda x: 0 <= x < 1, "at least 0 and below 1"),
    ("weight_decay minutes grad_clip checkpoint_minutes", lambda x: 0 <= x < inf, "at least 0"),
    ("updates patience evaluate_every seed", lambda x: x >= 0, "at least 0"),
    ("epochs grad_accumulation ntasgd_window plateau_patience", lambda x: x >= 1, "at least 1"),
)
