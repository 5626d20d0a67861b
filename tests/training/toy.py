"""A small thing to learn, in-process or as a program: ``python toy.py FOLDER JSON-OF-OPTIONS``."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from elman.files.model_files import CHECKPOINT
from elman.training.distributed import is_main_process
from elman.training.ema import tensors_by_name
from elman.training.evaluation import Validation
from elman.training.events import Event, Update
from elman.training.run import find_resume_point, follow
from elman.training.training_config import TrainingConfig
from elman.training.training_loop import fit

Batch = Sequence[int]
E = TypeVar("E")


class Lists(Generic[E]):
    """Batches that are lists of examples; ``plan`` gives those of an epoch."""

    def __init__(
        self, plan: Callable[[int], Sequence[Sequence[E]]], weigh: Callable[[Sequence[E]], float] = len
    ) -> None:
        self.plan = plan
        self.weigh = weigh
        self._latest: tuple[int, Sequence[Sequence[E]]] = (-1, ())

    def __call__(self, epoch: int, start: int) -> Iterator[Sequence[E]]:
        return iter(self._plan(epoch)[start:])

    def count(self, epoch: int) -> int:
        return len(self._plan(epoch))

    def weight(self, batch: Sequence[E]) -> float:
        return self.weigh(batch)

    def shard(self, batch: Sequence[E], rank: int, size: int) -> Sequence[E]:
        return batch[rank::size]

    def _plan(self, epoch: int) -> Sequence[Sequence[E]]:
        if self._latest[0] != epoch:
            self._latest = epoch, self.plan(epoch)
        return self._latest[1]


class Net(nn.Module):
    """Two layers with dropout, and a state that is carried from batch to batch."""

    def __init__(self, width: int = 6, *, plain: bool = False) -> None:
        super().__init__()
        self.first = nn.Linear(3, width)
        self.last = nn.Linear(width, 1)
        self.plain = plain
        self.register_buffer("carried", torch.zeros(width), persistent=False)
        generator = torch.Generator().manual_seed(1)
        for p in self.parameters():
            p.data = torch.randn(p.shape, generator=generator) / 2

    def forward(self, x: Tensor) -> Tensor:
        h = torch.tanh(self.first(x))
        if not self.plain:
            h = nn.functional.dropout(h + 0.1 * self.carried, 0.2, self.training)
        if self.training:
            self.carried.copy_(h.detach().mean(0))
        return self.last(h)[:, 0]


class Problem:
    """A noisy curve, as batches of example numbers; the last of an epoch is smaller."""

    def __init__(self, net: nn.Module, count: int = 22, size: int = 4) -> None:
        generator = torch.Generator().manual_seed(2)
        self.net, self.count, self.size = net, count, size
        self.x = torch.randn(count, 3, generator=generator)
        self.y = torch.sin(self.x.sum(1)) + 0.3 * torch.randn(count, generator=generator)
        self.batches: Lists[int] = Lists(self.plan)
        self.validation = Validation(self.scores, "error", "min")

    def plan(self, epoch: int) -> list[list[int]]:
        order = torch.randperm(self.count, generator=torch.Generator().manual_seed(epoch)).tolist()
        return [order[i : i + self.size] for i in range(0, self.count, self.size)]

    def loss(self, batch: Batch, progress: float) -> Tensor:
        return nn.functional.mse_loss(self.net(self.x[list(batch)]), self.y[list(batch)])

    def scores(self) -> dict[str, float]:
        return {"error": nn.functional.mse_loss(self.net(self.x), self.y).item()}

    def fit(self, settings: TrainingConfig, **options: Any) -> Generator[Event, None, None]:
        options.setdefault("validation", self.validation)
        return fit(self.net, self.batches, self.loss, settings, **options)


def of(kind: Callable[..., E], happened: Sequence[Event]) -> list[E]:
    """The events of one kind."""
    return [event for event in happened if isinstance(event, kind)]  # type: ignore[arg-type]


def same(one: nn.Module, other: nn.Module) -> bool:
    """Whether two nets are equal bit for bit."""
    pairs = zip(tensors_by_name(one).values(), tensors_by_name(other).values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


def main(folder: Path, options: dict[str, Any]) -> None:
    """Train, going on where a checkpoint is found; leave the final weights in ``final``."""
    torch.set_num_threads(1)
    settings = TrainingConfig(**options.get("settings", {}))
    net = Net(options.get("width", 6), plain=options.get("plain", False))
    problem = Problem(net, options.get("count", 22), options.get("size", 4))
    asked = (folder / CHECKPOINT).exists() and "WORLD_SIZE" not in os.environ
    resume = find_resume_point(folder, options, asked=asked)

    def fatal() -> Generator[Event, None, None]:
        for event in problem.fit(settings, resume=resume):
            yield event
            lost = isinstance(event, Update) and event.number == options.get("lost")
            if lost and not is_main_process() and not (folder / "lost").exists():
                (folder / "lost").touch()
                os.kill(os.getpid(), 9)

    if follow(fatal(), folder, options) and is_main_process():
        save_file({k: v.clone() for k, v in tensors_by_name(net).items()}, folder / "final")


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
