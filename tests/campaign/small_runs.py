"""A run of a second for each task, on data made up here, and what of its folder must come out the same."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

WORDS = ["the", "of", "a", "in", "time", "place", "when", "where", "city", "year", "hour", "town"]
FOREIGN = {"notes.txt": "mine", "data/table.tsv": "mine, too"}  # in the folder, and none of Elman's business
UPDATES = 24


def _line(rng: random.Random) -> list[str]:
    return rng.choices(WORDS, k=rng.randint(2, 7))


def _classifier(rng: random.Random) -> str:
    return f"{' '.join(_line(rng))}\t{rng.choice('xy')}"


def _pairs(rng: random.Random) -> str:
    return f"{' '.join(_line(rng))}\t{' '.join(_line(rng))}\t{rng.choice('xy')}"


def _tagger(rng: random.Random) -> str:
    return "".join(f"{word} {word[0].upper()}\n" for word in _line(rng))


def _lm(rng: random.Random) -> str:
    return " ".join(_line(rng))


def _seq2seq(rng: random.Random) -> str:
    line = _line(rng)
    return f"{' '.join(line)}\t{' '.join(line[::-1])}"


TASKS: dict[str, tuple[str, str, Callable[[random.Random], str]]] = {
    "classifier": ("tsv", "text\tlabel", _classifier),
    "pairs": ("tsv", "first\tsecond\tlabel", _pairs),
    "tagger": ("conll", "", _tagger),
    "lm": ("txt", "", _lm),
    "seq2seq": ("tsv", "source\ttarget", _seq2seq),
}


def make_recipe(task: str, folder: Path, seed: int) -> dict[str, Any]:
    """A recipe with its data in a folder: a checkpoint after each update, an evaluation after every fourth."""
    ending, header, line = TASKS[task]
    data: dict[str, Any] = {}
    for part, count in (("train", 80), ("valid", 12)):
        rng = random.Random(f"{part} {seed}")
        data[part] = str(folder / f"{task}-{seed}-{part}.{ending}")
        lines = [header] * bool(header) + [line(rng) for _ in range(count)]
        Path(data[part]).write_text("\n".join(lines) + "\n")
    if task == "lm":
        data |= {"streams": 4, "bptt": 8, "cache": str(folder / "cache")}
    else:
        data["batch_tokens"] = 64
    training = {"updates": UPDATES, "evaluate_every": 4, "ema_decay": 0.9, "seed": seed, "patience": 0}
    training |= {"checkpoint_minutes": 1e-9}
    return {"task": task, "data": data, "model": {"hidden": 8, "embedding": 8}, "training": training}


def write_foreign_files(folder: Path) -> None:
    """Files of somebody else."""
    for name, content in FOREIGN.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)


def fingerprint(folder: Path) -> dict[str, bytes]:
    """Every file of a finished folder, but for what tells of times and sessions."""
    files = {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
    config = json.loads(files["config.json"])
    for name in ("run.json", "config.json"):
        config.get("sha256", {}).pop(name, None)
    checkpoint = files["checkpoint.safetensors"]
    tensors = checkpoint[8 + int.from_bytes(checkpoint[:8], "little") :]  # without the header: it has the time
    timeless = {name: content for name, content in files.items() if name not in ("run.json", "README.md")}
    timeless["config.json"] = json.dumps(config, sort_keys=True).encode()
    return timeless | {"checkpoint.safetensors": tensors}
