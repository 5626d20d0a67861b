"""The computation of an update, in two halves, the gradient and the change it makes; and its random numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from elman.kernels.many_tensors import clip_norm
from elman.kernels.native_adamw import find_tables, sparse_gradients
from elman.state import detach
from elman.training.snapshot import TrainState
from elman.training.stateful_loss import StatefulLoss

B = TypeVar("B")


class LossModule(nn.Module, Generic[B]):
    """The loss as a module with the net's parameters, so that what wraps modules can wrap it.

    It has none of its buffers: what those carry from batch to batch is each process's own.
    """

    def __init__(self, net: nn.Module, loss: StatefulLoss[B], precision: str) -> None:
        super().__init__()
        self.weights = nn.ParameterList(net.parameters())
        # Never used: DDP, told to expect unused parameters, warns where there are none.
        self.idle = nn.Parameter(next(net.parameters()).new_zeros(1))
        self.loss = loss
        self.precision: torch.dtype = getattr(torch, precision)

    def forward(self, batch: B, progress: float, state: Any) -> tuple[Tensor, Any]:
        mixed = self.precision != torch.float32
        with torch.autocast("cuda", self.precision) if mixed else nullcontext():
            loss, state = self.loss(batch, progress, state)
        return loss.float(), detach(state)


class EagerStep(Generic[B]):
    """The update as PyTorch runs it. Between its halves the gradient can be looked at, and refused."""

    def __init__(self, loss: nn.Module, carried: StatefulLoss[B], training: TrainState, clip: float) -> None:
        self.loss, self.training, self.clip = loss, training, clip
        self.begin = carried.begin
        alone = not isinstance(loss, DistributedDataParallel)
        self.tables = find_tables(training.net, training.optimizer) if alone else []

    def gradient(self, parts: Sequence[B], shares: Tensor, progress: float, state: Any) -> tuple[Tensor, Any]:
        """Make the gradient that of L = Σ shares · loss(parts), clipped: L and its norm before, and
        the state after the parts; the one before them is left as it was."""
        optimizer, scaler = self.training.optimizer, self.training.scaler
        optimizer.zero_grad(set_to_none=True)
        total = torch.zeros_like(shares[0])
        # Processes exchange their gradients once an update, after its last batch.
        no_sync = self.loss.no_sync if isinstance(self.loss, DistributedDataParallel) else nullcontext
        for i, part in enumerate(parts):
            with no_sync() if i < len(parts) - 1 else nullcontext(), sparse_gradients(self.tables):
                loss, state = self.loss(part, progress, state)
                loss = loss * shares[i]
                scaler.scale(loss).backward()
            total += loss.detach()
        scaler.unscale_(optimizer)
        norm = clip_norm([*_find_gradients(optimizer)], self.clip)
        return torch.stack((total, norm)), state

    def apply(self) -> None:
        """Change the weights."""
        self.training.scaler.step(self.training.optimizer)
        self.training.scaler.update()


def _find_gradients(optimizer: torch.optim.Optimizer) -> Iterator[Tensor]:
    """Those of all parameters that have one; of a sparse one its rows, each of them once."""
    for p in (p for group in optimizer.param_groups for p in group["params"]):
        if p.grad is not None and p.grad.is_sparse:
            p.grad = p.grad.coalesce()
            yield p.grad._values()
        elif p.grad is not None:
            yield p.grad


@contextmanager
def update_rng(seed: int, update: int, rank: int, device: torch.device) -> Iterator[None]:
    """Within it PyTorch's random numbers follow from these; afterwards they go on as if it had not been.

    Those of the CPU and of the device: what a GPU draws is settled when its work is begun, not when it is done.
    """
    text = f"{seed} {update} {rank}".encode()
    mixed = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.default_generator.manual_seed(mixed)
        if device.type == "cuda":
            torch.cuda.default_generators[device.index].manual_seed(mixed)
        yield
