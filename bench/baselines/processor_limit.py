"""A callback for Lightning: training ends after so much processor time, start-up and evaluations included."""

from __future__ import annotations

import time
from typing import Any

from lightning.pytorch.callbacks import Callback


class ProcessorLimit(Callback):
    """Stops after the evaluation behind which another one, as far away as the last, would come too late."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.last = time.process_time()

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        now = time.process_time()
        trainer.should_stop = not trainer.sanity_checking and 2 * now - self.last > self.seconds
        self.last = now
