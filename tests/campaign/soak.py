"""Use one loaded model for a long time: its memory stays flat.

A classifier predicts a million lines in batches of ten, as a server would, and a language model's stream reads
a hundred thousand tokens and says after each what may follow. The memory of the process is read ten
times; after the first tenth it may grow by no more than ``--most`` MB.

    python tests/campaign/soak.py
    python tests/campaign/soak.py --predictions 20000 --tokens 2000
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

from elman import Classifier, LanguageModel

WORDS = [f"w{i}" for i in range(300)]


def main() -> int:
    """Both soaks, a line each, and the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--predictions", type=int, default=1_000_000)
    parser.add_argument("--tokens", type=int, default=100_000)
    parser.add_argument("--most", type=float, default=16, metavar="MB")
    options = parser.parse_args()
    torch.set_num_threads(1)
    grown = [
        soak("predictions", options.predictions, predict_lines(), step=10),
        soak("streamed tokens", options.tokens, stream_tokens(), step=1),
    ]
    return int(max(grown) > options.most)


def soak(what: str, count: int, use: Callable[[int], None], step: int) -> float:
    """MB by which the memory grew after the first tenth."""
    begun, sizes = time.monotonic(), []
    for tenth in range(10):
        for i in range(tenth * count // 10, (tenth + 1) * count // 10, step):
            use(i)
        sizes.append(resident_mb())
    grown = max(sizes[1:]) - sizes[0]
    seconds = time.monotonic() - begun
    print(f"{count:,} {what} in {seconds:.0f} s: {sizes[0]:.1f} MB after a tenth, then {grown:+.1f} MB at most")
    return grown


def predict_lines() -> Callable[[int], None]:
    """Ten predictions a call, of lines that are never quite the same."""
    rng = random.Random(0)
    rows = [(make_line(rng, 8), rng.choice(["a", "b"])) for _ in range(200)]
    model = Classifier.train(rows, epochs=1)

    def use(i: int) -> None:
        lines = [make_line(rng, rng.randint(0, 30)) + f" {i}" for _ in range(10)]
        assert len(model.predict(lines)) == 10

    return use


def stream_tokens() -> Callable[[int], None]:
    """A word to a stream that never ends, and what may follow it."""
    rng = random.Random(0)
    model = LanguageModel.train([make_line(rng, 12) for _ in range(200)], epochs=1)
    stream = model.stream()

    def use(i: int) -> None:
        stream.feed(f"{rng.choice(WORDS)} ")
        assert stream.next(3)

    return use


def make_line(rng: random.Random, words: int) -> str:
    """Words at random."""
    return " ".join(rng.choices(WORDS, k=words))


def resident_mb() -> float:
    """The memory that this process has now (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


if __name__ == "__main__":
    sys.exit(main())
