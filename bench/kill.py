"""Kill a training run again and again, resume it each time, and compare what it ends with.

``elman train classifier`` on sentences made up here, once undisturbed and once killed with SIGKILL: at any
moment from its start on, at a moment of training, or while a checkpoint is half written. Weights and log must
come out the same, bit for bit. ``--json`` prints one JSON object and nothing else.

    python bench/kill.py
    python bench/kill.py --kills 5 --seed 3
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

EPOCHS = 25
MOMENTS = ("at any moment", "while training", "while writing")


def sentences(path: Path, count: int, seed: int) -> None:
    """A file of labelled sentences; the label says which of two marked words came last."""
    rng = random.Random(seed)
    words = [f"w{i}" for i in range(200)]
    with open(path, "w") as file:
        print("text\tlabel", file=file)
        for _ in range(count):
            text = rng.choices(words, k=rng.randint(5, 25))
            for mark in rng.sample(["left", "right"], 2):
                text.insert(rng.randint(0, len(text)), mark)
            last = max("left", "right", key=text.index)
            print(" ".join(text), last, sep="\t", file=file)


def start(data: Path, out: Path) -> subprocess.Popen[bytes]:
    """The command, resuming where there is something to resume; a checkpoint about every update."""
    command = [sys.executable, "-m", "elman", "train", "classifier", "--out", str(out)]
    command += ["--train", str(data / "train.tsv"), "--valid", str(data / "valid.tsv"), "--threads=1"]
    command += [f"--epochs={EPOCHS}", "--set=training.patience=0", "--set=training.ema_decay=0.9"]
    command += ["--set=training.checkpoint_minutes=0.000001"]
    if (out / "checkpoint.safetensors").exists():
        command.append("--resume")
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def finish(data: Path, out: Path) -> float:
    """Run to the end; the seconds it took."""
    begun = time.monotonic()
    if start(data, out).wait():
        raise SystemExit(f"the run in {out} failed")
    return time.monotonic() - begun


def kill(data: Path, out: Path, moment: str, rng: random.Random, seconds: float) -> bool:
    """Start a run and kill it; whether it was over before."""
    half, before = out / "checkpoint.safetensors.tmp", size(out)
    process = start(data, out)
    if moment == "at any moment":
        time.sleep(rng.uniform(0, 10))
    else:
        while size(out) <= before and process.poll() is None:
            time.sleep(0.001)
        time.sleep(rng.uniform(0, seconds))
    while moment == "while writing" and process.poll() is None:
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.001)
        if half.exists():
            break
        process.send_signal(signal.SIGCONT)
    over = process.poll() is not None
    process.kill()
    process.wait()
    return over


def size(out: Path) -> int:
    """Bytes of the log, which grows while updates are made."""
    log = out / "metrics.jsonl"
    return log.stat().st_size if log.exists() else 0


def updates(out: Path) -> int:
    """Updates in the log."""
    lines = (out / "metrics.jsonl").read_bytes() if size(out) else b""
    return lines.count(b'"loss"')


def measure(folder: Path, kills: int, seed: int) -> dict[str, object]:
    """Train undisturbed and killed; what came of it."""
    rng = random.Random(seed)
    sentences(folder / "train.tsv", 2000, seed)
    sentences(folder / "valid.tsv", 200, seed + 1)
    whole, parts = folder / "whole", folder / "parts"
    seconds = finish(folder, whole)
    killed: Counter[str] = Counter()
    at = []
    for number in range(kills):
        moment = MOMENTS[number % len(MOMENTS)]
        if kill(folder, parts, moment, rng, seconds / kills / 2):
            raise SystemExit(f"the run was over before kill {number + 1}: fewer --kills")
        killed[moment] += 1
        at.append(updates(parts))
    finish(folder, parts)
    same = {
        name: (whole / name).read_bytes() == (parts / name).read_bytes()
        for name in ("model.safetensors", "metrics.jsonl")
    }
    return {
        "updates": updates(whole),
        "seconds": round(seconds, 1),
        "kills": dict(killed),
        "updates at the kills": at,
        "identical": same,
        "left over": sorted(path.name for path in parts.glob("*.tmp")),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        result = measure(Path(folder), options.kills, options.seed)
    if options.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name}: {value}")
    sys.exit(not all(result["identical"].values()))


if __name__ == "__main__":
    main()
