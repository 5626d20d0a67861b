"""Bulk prediction on a Ray of its own, in which one of two workers is killed once: ``bulk_run.py FOLDER``.

The folder has the model and the rows in ``texts.json``, and in the end ``answers.json``.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import ray.data

from elman.ray import Predictor


class Mortal(Predictor):
    """Dies at the row ``victim``, but only once."""

    def __init__(self, *, folder: str, **options: Any) -> None:
        super().__init__(f"{folder}/model", **options)
        self.mark = Path(folder, "killed")

    def __call__(self, batch: Any) -> Any:
        if "victim" in batch["id"] and not self.mark.exists():
            self.mark.write_text("once")
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(batch)


def main(folder: Path) -> None:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=100 * 2**20)
    ray.data.DataContext.get_current().enable_progress_bars = False
    texts = ray.data.from_items(json.loads((folder / "texts.json").read_text()), override_num_blocks=10)
    options = {"folder": str(folder), "text": "body"}
    workers = ray.data.ActorPoolStrategy(size=2)
    answers = texts.map_batches(Mortal, fn_constructor_kwargs=options, compute=workers, batch_size=8)
    (folder / "answers.json").write_text(json.dumps(answers.take_all()))
    ray.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
