"""What training costs as data grows: tokens a second and peak memory at 1×, 4× and 16× the lines.

Lines of 5 to 35 words drawn from a Zipf law, as the words of texts are, so that more lines have more words.
Each size is read, encoded and trained on in a process of its own, the sizes in turn, several rounds; the best
round counts, in seconds of the processor, since other work on the machine slows all of them alike.

    python bench/cost.py [--lines 5000] [--updates 150] [--rounds 3] [--json]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

SIZES = (1, 4, 16)
BATCH = 2048
WARM = 20  # updates before the clock starts


def write(path: Path, lines: int) -> None:
    """A table of texts and labels."""
    rng = np.random.default_rng(0)
    with open(path, "w", encoding="utf-8") as file:
        file.write("text\tlabel\n")
        for length in rng.integers(5, 36, lines):
            words = np.minimum(rng.zipf(1.3, length), 200_000)
            file.write(" ".join(f"w{word}" for word in words) + f"\tlabel{words[0] % 4}\n")


def measure(path: Path, updates: int) -> dict[str, float]:
    """One size, in this process."""
    import torch

    from elman.tasks.classifier.task import Classifier, ClassifierConfig, ClassifierDataConfig, read_examples
    from elman.tasks.config import TokenizerConfig
    from elman.text.batching import BucketBatches
    from elman.training.events import Update
    from elman.training.training_config import TrainingConfig
    from elman.training.training_loop import fit

    torch.set_num_threads(1)
    start = time.process_time()
    examples = list(read_examples(ClassifierDataConfig(), str(path)))
    task = Classifier.from_examples(ClassifierConfig(), TokenizerConfig(min_count=2), examples)
    data = task.encode(examples)
    read_seconds = time.process_time() - start
    tokens = sum(map(sum, data.lengths))
    batches = BucketBatches(data, BATCH, 0, task.weight)
    trained: list[int] = []

    def loss(batch: Any, progress: float) -> torch.Tensor:
        trained.append(sum(map(sum, batch.lengths)))
        return task.loss(batch, progress)

    for event in fit(task.net, batches, loss, TrainingConfig(updates=updates + WARM)):
        if isinstance(event, Update) and event.number == WARM:
            start = time.process_time()
    seconds = time.process_time() - start
    return {
        "tokens": tokens,
        "vocabulary": len(task.featurizer.tokenizer.items),
        "read_tokens_a_second": tokens / read_seconds,
        "tokens_a_second": sum(trained[WARM:]) / seconds,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def child(path: Path, updates: int) -> dict[str, float]:
    """One size, in a process of its own."""
    command = [sys.executable, __file__, "--measure", str(path), "--updates", str(updates)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=5000, help="of the smallest size")
    parser.add_argument("--updates", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", type=Path, help="a file: measure it in this process")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure, options.updates)))
        return
    rounds: dict[int, list[dict[str, float]]] = {size: [] for size in SIZES}
    with tempfile.TemporaryDirectory() as folder:
        files = {size: Path(folder) / f"{size}.tsv" for size in SIZES}
        for size, path in files.items():
            write(path, size * options.lines)
        for _ in range(options.rounds):
            for size, path in files.items():
                rounds[size].append(child(path, options.updates))
    best = {size: max(found, key=lambda one: one["tokens_a_second"]) for size, found in rounds.items()}
    if options.json:
        print(json.dumps(best))
        return
    base = best[1]["tokens_a_second"]
    print(f"{'data':>5} {'tokens':>10} {'words':>8} {'read/s':>9} {'trained/s':>10} {'ratio':>6} {'MiB':>6}")
    for size, one in best.items():
        print(
            f"{size:>4}× {one['tokens']:>10,.0f} {one['vocabulary']:>8,.0f} "
            f"{one['read_tokens_a_second']:>9,.0f} {one['tokens_a_second']:>10,.0f} "
            f"{one['tokens_a_second'] / base:>6.2f} {one['peak_mib']:>6,.0f}"
        )


if __name__ == "__main__":
    main()
