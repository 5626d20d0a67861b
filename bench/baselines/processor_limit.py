"""A callback for Lightning: the end of training after so much processor time, evaluations and start-up included."""

from __future__ import annotations

import time
from typing import Any

from lightning.pytorch.callbacks import Callback


class ProcessorLimit(Callback):
    """Stops before an epoch that, taking as long as the longest, would end too late."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.begun = self.longest = 0.0

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        self.begun = time.process_time()

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        self.longest = max(self.longest, time.process_time() - self.begun)
        if time.process_time() + self.longest > self.seconds:
            trainer.should_stop = True
