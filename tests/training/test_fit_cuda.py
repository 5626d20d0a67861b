"""What only a GPU can do: float16, and the update as a CUDA graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn

from elman.errors import ConfigError
from elman.training.evaluation import Validation
from elman.training.events import Checkpoint, Event, TrainingEnd, Update
from elman.training.training_config import TrainingConfig
from elman.training.training_loop import fit

pytestmark = pytest.mark.gpu


class Batch(NamedTuple):
    xs: Tensor
    y: Tensor
    size: float


class RecurrentLayer(nn.Module):
    """h_t = tanh(W [x_t, h_{t-1}]) with dropout, the last state carried over to the next batch."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.step = nn.Linear(4 + 16, 16)
        self.last = nn.Linear(16, 1)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("carried", torch.zeros(8, 16), persistent=False)

    def forward(self, xs: Tensor) -> Tensor:
        h = self.carried
        for x in xs.unbind(1):
            h = torch.tanh(self.step(torch.cat((x, h), 1)))
        self.carried.copy_(0.1 * h.detach())
        return self.last(self.dropout(h))[:, 0]


class Source:
    """Eight sequences a batch; their number counts as weight, which differs from batch to batch."""

    def __init__(self, device: str = "cuda", steps: Callable[[int], int] = lambda batch: 5) -> None:
        self.device, self.steps = device, steps

    def __call__(self, epoch: int, start: int) -> Iterator[Batch]:
        for i in range(start, self.count(epoch)):
            generator = torch.Generator().manual_seed(1000 * epoch + i)
            xs = torch.randn(8, self.steps(i), 4, generator=generator).to(self.device)
            yield Batch(xs, xs.sum((1, 2)).sin(), 8.0)

    def count(self, epoch: int) -> int:
        return 6

    def weight(self, batch: Batch) -> float:
        return batch.size + batch.xs[0, 0, 0].abs().item()

    def shard(self, batch: Batch, rank: int, size: int) -> Batch:
        return Batch(batch.xs[rank::size], batch.y[rank::size], batch.size)


def train(dropout: float = 0.0, source: Source | None = None, **options: Any) -> tuple[nn.Module, list[Event]]:
    net = RecurrentLayer(dropout).cuda()

    def loss(batch: Batch, progress: float) -> Tensor:
        return nn.functional.mse_loss(net(batch.xs).float(), batch.y)

    settings = TrainingConfig(**{"epochs": 4, "lr": 0.01, **options})
    return net, list(fit(net, source or Source(), loss, settings))


def losses(events: list[Event]) -> list[float]:
    return [event.loss for event in events if isinstance(event, Update)]


@pytest.mark.parametrize("dropout", [0.0, 0.5])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"optimizer": "sgd", "lr": 0.1},
        {"optimizer": "sgd", "momentum": 0.0, "grad_clip": 0.0},
        {"grad_accumulation": 2, "ema_decay": 0.9},
        {"precision": "float16"},
        {"precision": "float16", "optimizer": "sgd", "lr": 0.1},
    ],
    ids=str,
)
def test_a_graph_makes_the_updates_of_the_eager_step(dropout: float, options: dict[str, Any]) -> None:
    eager, happened = train(dropout, **options)
    captured, replayed = train(dropout, cuda_graph=True, **options)
    tolerance = 1e-2 if "precision" in options else 1e-4
    assert losses(replayed) == pytest.approx(losses(happened), rel=tolerance, abs=tolerance)
    for name, value in eager.named_parameters():
        torch.testing.assert_close(captured.get_parameter(name), value, rtol=tolerance, atol=tolerance)


def test_float16_is_close_to_float32_and_keeps_float32_weights() -> None:
    single, expected = train(epochs=8)
    half, happened = train(epochs=8, precision="float16")
    assert all(p.dtype == torch.float32 for p in half.parameters())
    assert losses(happened)[-1] == pytest.approx(losses(expected)[-1], rel=0.1, abs=0.02)
    for name, value in single.named_parameters():
        torch.testing.assert_close(half.get_parameter(name), value, rtol=0.1, atol=0.02)


def test_float16_recovers_from_an_overflow() -> None:
    net = RecurrentLayer(0.0).cuda()
    calls = []

    def loss(batch: Batch, progress: float) -> Tensor:
        calls.append(progress)
        scale = 1e30 if len(calls) in (1, 5) else 1.0
        return scale * nn.functional.mse_loss(net(batch.xs).float(), batch.y)

    events = list(fit(net, Source(), loss, TrainingConfig(epochs=2, precision="float16")))
    assert isinstance(events[-1], TrainingEnd)
    assert all(torch.isfinite(p).all() for p in net.parameters())
    assert torch.isfinite(net.carried).all()


@pytest.mark.parametrize("graph", [False, True])
def test_a_run_on_the_gpu_can_be_resumed(graph: bool) -> None:
    settings = TrainingConfig(epochs=4, lr=0.01, cuda_graph=graph, precision="float16", ema_decay=0.9)

    def loss(net: nn.Module) -> Callable[[Batch, float], Tensor]:
        return lambda batch, progress: nn.functional.mse_loss(net(batch.xs).float(), batch.y)

    def judged(net: nn.Module) -> Validation:
        xs = next(Source()(9, 0)).xs
        return Validation(lambda: {"a": net(xs).sum().item()}, "a")

    whole, resumed, snapshot = RecurrentLayer(0.5).cuda(), RecurrentLayer(0.5).cuda(), None
    for event in fit(whole, Source(), loss(whole), settings, judged(whole)):
        if isinstance(event, Checkpoint) and event.number == 9:
            snapshot = event.snapshot()
    list(fit(resumed, Source(), loss(resumed), settings, judged(resumed), resume=snapshot))
    for name, value in whole.named_parameters():
        torch.testing.assert_close(resumed.get_parameter(name), value, rtol=1e-2, atol=1e-2)


def test_a_graph_of_batches_of_different_shapes_is_refused() -> None:
    with pytest.raises(ConfigError, match="cuda_graph needs batches of one shape"):
        train(cuda_graph=True, source=Source(steps=lambda batch: 5 if batch < 5 else 6))


def test_a_graph_of_data_on_the_cpu_is_refused() -> None:
    net = RecurrentLayer(0.0).cuda()

    def loss(batch: Batch, progress: float) -> Tensor:
        return nn.functional.mse_loss(net(batch.xs.cuda()), batch.y.cuda())

    with pytest.raises(ConfigError, match="cuda_graph needs batches of tensors on the GPU"):
        list(fit(net, Source("cpu"), loss, TrainingConfig(cuda_graph=True)))


def test_a_graph_of_a_loss_that_follows_progress_is_refused() -> None:
    net = RecurrentLayer(0.0).cuda()

    def loss(batch: Batch, progress: float) -> Tensor:
        return (1 + progress) * nn.functional.mse_loss(net(batch.xs), batch.y)

    with pytest.raises(ConfigError, match="does not change with progress"):
        list(fit(net, Source(), loss, TrainingConfig(cuda_graph=True)))


def test_a_graph_of_a_loss_that_waits_for_the_gpu_is_refused() -> None:
    net = RecurrentLayer(0.0).cuda()

    def loss(batch: Batch, progress: float) -> Tensor:
        value = nn.functional.mse_loss(net(batch.xs), batch.y)
        return value if value.item() > 0 else -value

    with pytest.raises(ConfigError, match="this update cannot be recorded"):
        list(fit(net, Source(), loss, TrainingConfig(cuda_graph=True)))
