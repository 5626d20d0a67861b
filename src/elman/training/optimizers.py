"""Optimizers by their config, their learning rates, and what the history of a metric says about them.

``progress`` runs from 0 to 1 over a training run; ``history`` has the metric of each evaluation so far, higher
is better. NT-ASGD is SGD whose averaging begins when its trigger says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, inf, pi

import torch
from torch import Tensor, nn

from elman.errors import ModelError
from elman.kernels.native_adamw import NativeAdamW, fits_native
from elman.training.training_config import TrainingConfig


def make_optimizer(net: nn.Module, config: TrainingConfig) -> torch.optim.Optimizer:
    """The optimizer of the parameters that are not frozen; weight decay is for matrices only."""
    parameters = [p for p in net.parameters() if p.requires_grad]
    if not parameters:
        raise ModelError("there is nothing to train: the net has no parameter that is not frozen")
    groups = [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": config.weight_decay},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]
    lr: float | Tensor = config.lr
    if config.cuda_graph:  # a recorded update reads its learning rate from the device
        lr = torch.tensor(config.lr, device=parameters[0].device)
    if config.optimizer == "adamw":
        betas = (config.beta1, config.beta2)
        if isinstance(lr, float) and fits_native(parameters):
            return NativeAdamW(groups, lr, betas, fused=True)
        return torch.optim.AdamW(groups, lr, betas, capturable=config.cuda_graph, fused=True)
    sgd = torch.optim.SGD(groups, lr, config.momentum, fused=True)
    for p in parameters if config.momentum else ():
        # Were the first update one that float16's scaler skips, the fused kernel would leave this unset.
        sgd.state[p]["momentum_buffer"] = torch.zeros_like(p)
    return sgd


def keeps_average(config: TrainingConfig) -> bool:
    """Whether a run keeps an average of its weights."""
    return bool(config.ema_decay) or config.optimizer == "ntasgd"


def count_copies(config: TrainingConfig) -> int:
    """How many numbers a run keeps of each weight beside it: moments of the optimizer, and the average."""
    moments = 2 if config.optimizer == "adamw" else int(bool(config.momentum))
    return moments + keeps_average(config)


def set_lr(optimizer: torch.optim.Optimizer, lr: float) -> None:
    """Give all parameters a learning rate, where the optimizer reads it."""
    for group in optimizer.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(lr)
        else:
            group["lr"] = lr


def learning_rate(config: TrainingConfig, progress: float, history: Sequence[float]) -> float:
    """The learning rate of an update."""
    lowered = count_reductions(history, config.plateau_patience) if config.schedule == "plateau" else 0
    shape = SHAPES[config.schedule](progress, config.warmup)
    return config.lr * shape * config.plateau_factor**lowered


def constant(progress: float, warmup: float) -> float:
    """p / w while p < w, then 1."""
    return progress / warmup if progress < warmup else 1.0


def cosine(progress: float, warmup: float) -> float:
    """p / w while p < w, then (1 + cos π (p - w) / (1 - w)) / 2."""
    if progress < warmup:
        return progress / warmup
    return _fall((progress - warmup) / (1 - warmup))


def one_cycle(progress: float, warmup: float) -> float:
    """Up from 1/25 to 1 while p < w, then down to 1/250,000, both as half a cosine (Smith 2018)."""
    low, end = 1 / 25, 1 / 250_000
    if progress < warmup:
        return 1 - (1 - low) * _fall(progress / warmup)
    return end + (1 - end) * _fall((progress - warmup) / (1 - warmup))


SHAPES = {"constant": constant, "cosine": cosine, "plateau": constant, "one_cycle": one_cycle}


def evaluations_since_best(history: Sequence[float]) -> int:
    """Evaluations since the best."""
    return len(history) - 1 - history.index(max(history)) if history else 0


def count_reductions(history: Sequence[float], wait: int) -> int:
    """How often ``wait`` evaluations in a row brought nothing better than the best before."""
    best, idle, count = -inf, 0, 0
    for merit in history:
        idle = 0 if merit > best else idle + 1
        best = max(best, merit)
        if idle == wait:
            idle, count = 0, count + 1
    return count


def should_average(history: Sequence[float], wait: int) -> bool:
    """Whether the newest evaluation is worse than the best of those at least ``wait`` before it.

    The trigger of NT-ASGD (Merity et al. 2018), in the reading of its authors' program.
    """
    earlier = history[: -wait - 1]
    return bool(earlier) and history[-1] < max(earlier)


def _fall(share: float) -> float:
    return (1 + cos(pi * share)) / 2
