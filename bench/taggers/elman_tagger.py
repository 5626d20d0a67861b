"""Our default command, in a process of its own as a user starts it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from safetensors.torch import load_file

import elman
from elman.files.model_files import CHECKPOINT
from elman.tasks.tagger import Tagger, TaggerExample
from elman.text.spans import tags_to_spans
from elman.training.ema import load_weights
from taggers import Corpus, Point, TrainedTagger


def train(corpus: Corpus, folder: Path, threads: int) -> TrainedTagger:
    out, kept = folder / "model", folder / "kept"
    kept.mkdir()
    command = [sys.executable, "-m", "elman", "train", "tagger", "--threads", str(threads)]
    start = time.time()
    with open(folder / "log.txt", "w+") as log:
        process = subprocess.Popen([*command, "--train", corpus.path, "--out", out], stdout=log, stderr=log)
        while process.poll() is None:
            _keep(out / CHECKPOINT, kept)
            time.sleep(0.05)
        seconds = time.time() - start
        if process.returncode:
            log.seek(0)
            sys.exit(f"elman train tagger failed:\n{log.read()}")
    tagger = cast(Tagger, elman.load(out))

    def predict(examples: Sequence[TaggerExample]) -> list[list[str]]:
        return tagger.tag([e.words for e in examples])

    def f1() -> float:
        return corpus.f1([*map(tags_to_spans, predict(corpus.test))])

    delivered = Point(seconds, f1())
    curve = []
    for path in sorted(kept.iterdir(), key=lambda path: path.stat().st_mtime):
        stored = load_file(path)
        # The best so far: what is delivered when training is stopped there.
        best = {k.removeprefix("best/"): v for k, v in stored.items() if k.startswith("best/")}
        if best:
            load_weights(tagger.net, best)
            curve.append(Point(path.stat().st_mtime - start, f1()))
    tagger = cast(Tagger, elman.load(out))
    return TrainedTagger("ours", [*curve, delivered], predict, lambda tags: [*map(tags_to_spans, tags)])


def _keep(checkpoint: Path, folder: Path) -> None:
    """Keep a checkpoint that the next one will replace, without copying it: training is being timed."""
    if checkpoint.exists():
        number = checkpoint.stat().st_ino
        if not (folder / f"{number}").exists():
            os.link(checkpoint, folder / f"{number}")
