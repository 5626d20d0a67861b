"""How fast a run is, and how long it will take."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from elman.training.events import Evaluation, Event, Update


class Pace:
    """How fast a run is, and how long it will take, by the updates seen."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.begun: tuple[float, float] | None = None
        self.recent: deque[tuple[float, float]] = deque(maxlen=100)
        self.left = 0.0

    def see(self, event: Event) -> None:
        now = self.clock()
        if isinstance(event, Evaluation):
            self.recent.clear()  # the speed is that of training
        if not isinstance(event, Update):
            return
        self.recent.append((now, event.weight))
        self.begun = self.begun or (now, event.progress)
        done = event.progress - self.begun[1]
        self.left = (now - self.begun[0]) / done * (1 - event.progress) if done > 0 else 0.0

    @property
    def speed(self) -> float:
        """Weight a second."""
        if not self.recent or self.recent[-1][0] <= self.recent[0][0]:
            return 0.0
        weight = sum(weight for _, weight in list(self.recent)[1:])
        return weight / (self.recent[-1][0] - self.recent[0][0])
