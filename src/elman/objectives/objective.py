"""What every objective is: a loss, with whatever it learns itself and what it says of its course."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import nn

from elman.decoding.sequence_model import SequenceModel
from elman.shapes import Float, Tensor

_MEMORY = 50.0  # updates that a running mean looks back on, about


class Objective(nn.Module, ABC):
    """A loss of a model and a batch. It is a module so that whoever keeps a net keeps what belongs to its
    training too: all that an objective remembers or learns are buffers, none of them a parameter.
    """

    metric_names: tuple[str, ...] = ()  # of the numbers that it tells

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("means", torch.zeros(len(self.metric_names)))
        self.register_buffer("seen", torch.zeros(()))

    @abstractmethod
    def forward(self, model: SequenceModel[Any], batch: Any, progress: float) -> Float[Tensor, ""]:
        """The loss; ``progress`` is the share of the run that is done."""

    def log(self, *values: Float[Tensor, ""]) -> None:
        """Take the numbers of this update into the running means."""
        means, seen = self.get_buffer("means"), self.get_buffer("seen")
        with torch.no_grad():
            seen += 1
            share = (1 / seen).clamp(min=1 / _MEMORY)
            means += (torch.stack([v.detach().to(means) for v in values]) - means) * share

    def metrics(self) -> dict[str, float]:
        """The running means by name; nothing before the first update."""
        if not float(self.get_buffer("seen")):
            return {}
        return dict(zip(self.metric_names, self.get_buffer("means").tolist(), strict=True))
