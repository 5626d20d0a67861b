"""How well a training fits its data in the end."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing

from elman.training.events import Event, Update

_END = 0.9  # of a training
_TIMES, _NATS = 1.25, 0.05  # by which a loss is more than another one, beyond chance


class FinalLoss:
    """The mean loss of the last tenth of a training whose events are watched."""

    def __init__(self) -> None:
        self.losses: list[float] = []

    def watch(self, events: Generator[Event, None, None]) -> Generator[Event, None, None]:
        """The same events."""
        with closing(events):
            for event in events:
                if isinstance(event, Update) and event.progress >= _END:
                    self.losses.append(event.loss)
                yield event

    @property
    def mean(self) -> float:
        """0 where nothing was watched."""
        return sum(self.losses) / max(1, len(self.losses))

    def is_worse_than(self, other: FinalLoss) -> bool:
        """Whether this training fitted its data clearly less; it cannot be told of one that was resumed."""
        return bool(other.losses) and self.mean > _TIMES * other.mean + _NATS
