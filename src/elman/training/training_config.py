"""How to train: every option one field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from elman.errors import check_option
from elman.ranges import (
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    Range,
    Rate,
    Seed,
    check_ranges,
)


@dataclass(frozen=True)
class TrainingConfig:
    """Options of ``fit``; where 0 switches one off, its comment says so."""

    optimizer: Literal["adamw", "sgd", "ntasgd"] = "adamw"
    lr: PositiveFloat = 1e-3  # the highest learning rate of the schedule
    weight_decay: NonNegativeFloat = 0.01  # of matrices; biases and gains are left alone
    beta1: Rate = 0.9  # adamw: decay of the first moment
    beta2: Rate = 0.999  # adamw: decay of the second moment
    momentum: Rate = 0.9  # sgd and ntasgd
    ntasgd_window: PositiveInt = 5  # ntasgd averages once this many evaluations brought nothing better

    schedule: Literal["constant", "cosine", "plateau", "one_cycle"] = "cosine"
    warmup: Rate = 0.05  # share of the run in which the learning rate rises; 0: none
    plateau_patience: PositiveInt = 1  # evaluations without a better one until plateau lowers the rate
    plateau_factor: Annotated[float, Range(0, 1, open_low=True, open_high=True)] = 0.5  # by which it does

    epochs: NonNegativeInt = 10  # 0: as many as minutes or updates allow
    updates: NonNegativeInt = 0  # length of the run in updates instead of epochs; 0: in epochs
    minutes: NonNegativeFloat = 0.0  # stop after so long, the schedule at its end, too; 0: no limit
    patience: NonNegativeInt = 0  # stop after so many evaluations without a better one; 0: never
    refit: bool = False  # in the end, train anew on all examples, those that were held out among them

    grad_clip: NonNegativeFloat = 1.0  # largest norm of the gradient; 0: any
    grad_accumulation: PositiveInt = 1  # batches an update
    ema_decay: Rate = 0.0  # of an exponential moving average of the weights; 0: none
    evaluate_every: NonNegativeInt = 0  # updates; 0: at the end of each epoch
    evaluation_share: Rate = 0.0  # of the minutes that evaluations, 40 at most, may take; 0: as evaluate_every
    checkpoint_minutes: NonNegativeFloat = 10.0  # besides those at evaluations; 0: none besides
    precision: Literal["float32", "float16", "bfloat16"] = (
        "float32"  # of products on a GPU; sums stay in float32
    )
    cuda_graph: bool = False  # replay the update as a CUDA graph; needs batches of one shape
    baseline: bool = (
        True  # judge a simple model of the same data in the end, too, where there is validation data
    )
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_ranges(self)
        averages = self.optimizer == "ntasgd" and bool(self.ema_decay)
        check_option("ema_decay", self.ema_decay, not averages, "0 with ntasgd, which averages")
        ends = bool(self.epochs or self.updates or self.minutes)
        check_option("epochs", self.epochs, ends, "at least 1 where neither updates nor minutes end the run")
        judged = self.patience or self.minutes or self.schedule == "plateau" or self.optimizer == "ntasgd"
        said = "false with patience, minutes, plateau or ntasgd: nothing says how long to train on all examples"
        check_option("refit", self.refit, not (self.refit and judged), said)
        timed = not self.evaluation_share or (self.minutes and not self.evaluate_every)
        said = "0 without minutes, and where evaluate_every says when"
        check_option("evaluation_share", self.evaluation_share, bool(timed), said)
