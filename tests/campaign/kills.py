"""Kill training runs again and again, resume them each time, and compare what they end with.

A run of each task begins in an empty folder, or over an older model and files of others. It is killed with
SIGKILL, at a moment of the clock or at a step in the file system (a checkpoint half written, a lock just taken,
a folder half swapped), and gone on with. After every kill the older model must load, or the new one; at the end
the whole folder must be, byte for byte, that of a run that was never killed.

    python -m tests.campaign.kills --count 1000 --jobs 16
    python -m tests.campaign.kills --count 20 --seed 3 --only lm
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import torch

import elman
from elman.errors import ModelError
from elman.tasks import registry
from tests.campaign.small_runs import FOREIGN, TASKS, fingerprint, make_recipe, write_foreign_files
from tests.folders.killing import count_steps, kill_after, kill_at_step

STATES = {  # by what lies in the folder after the kill, the first that does
    ".moving": "moving files",
    ".complete": "removing what is replaced",
    ".new": "writing a model",
    "checkpoint.safetensors.tmp": "writing a checkpoint",
    ".run/checkpoint.safetensors.tmp": "writing a checkpoint",
    "checkpoint.safetensors": "training",
    ".run/checkpoint.safetensors": "training",
}
MOST = 6  # kills of one run


class Reference(NamedTuple):
    """A task: its run that nobody kills, and the older model that some runs begin over."""

    recipe: dict[str, Any]
    old: Path
    new: dict[str, bytes]
    steps: int
    seconds: float


def prepare(task: str, folder: Path) -> Reference:
    """Train the older model, and the new one undisturbed."""
    older, recipe = make_recipe(task, folder, 1), make_recipe(task, folder, 0)
    older["model"]["hidden"] = 6
    count_steps(lambda: elman.train(older, folder / f"{task}-old"))
    begun = time.monotonic()
    steps = count_steps(lambda: elman.train(recipe, folder / f"{task}-new"))
    new = fingerprint(folder / f"{task}-new")
    return Reference(recipe, folder / f"{task}-old", new, steps, time.monotonic() - begun)


def kill_run(reference: Reference, out: Path, rng: random.Random) -> Counter[str]:
    """A run that is killed a few times before it ends: how often, and at what. What is wrong is asserted."""
    kills: Counter[str] = Counter()
    over_old = rng.random() < 0.6
    if over_old:
        shutil.copytree(reference.old, out)
        write_foreign_files(out)
    place = out / ".run" if over_old else out
    killed = True
    while killed:
        begun = (place / "checkpoint.safetensors").exists()
        train = partial(elman.train, reference.recipe, out, resume=begun, overwrite=over_old)
        killed = kills.total() < MOST and _kill(train, reference, rng)
        if killed:
            kills[_state(out)] += 1
            _check_left(reference, out, over_old=over_old)
    if kills.total() == MOST:
        count_steps(train)
    _check_end(reference, out, over_old=over_old)
    return kills


def _kill(train: partial[object], reference: Reference, rng: random.Random) -> bool:
    moment = rng.choice(("clock", "any step", "first steps", "last steps"))
    if moment == "clock":
        return kill_after(rng.uniform(0, reference.seconds), train)
    steps = {"any step": (1, reference.steps), "first steps": (1, 120)}
    last = (reference.steps - 40, reference.steps)  # of a run that is not resumed: where folders are swapped
    return kill_at_step(rng.randint(*steps.get(moment, last)), train)


def _state(out: Path) -> str:
    return next((what for name, what in STATES.items() if (out / name).exists()), "beginning")


def _check_left(reference: Reference, out: Path, *, over_old: bool) -> None:
    """After a kill: the old model or the new one, and all files of others."""
    old = (reference.old / "model.safetensors").read_bytes()
    try:
        elman.load(out)
    except ModelError:
        assert not over_old, traceback.format_exc()
    else:
        assert (out / "model.safetensors").read_bytes() in (old, reference.new["model.safetensors"])
    if over_old:
        assert all((out / name).read_text() == content for name, content in FOREIGN.items())


def _check_end(reference: Reference, out: Path, *, over_old: bool) -> None:
    found = fingerprint(out)
    expected = reference.new | {name: content.encode() for name, content in FOREIGN.items() if over_old}
    differing = sorted(name for name in {*found, *expected} if found.get(name) != expected.get(name))
    assert not differing, f"these differ from a run that was not killed: {differing}"


def work(
    references: Sequence[Reference], folder: Path, count: int, until: float, seed: str
) -> tuple[Counter[str], int, list[str]]:
    """Kill runs until there were ``count`` kills or the time is over: kills, runs, findings."""
    kills, runs, findings = Counter[str](), 0, list[str]()
    while kills.total() < count and len(findings) < 10 and time.monotonic() < until:
        rng = random.Random(f"{seed} {runs}")
        out = folder / f"{seed}-{runs}"
        runs += 1
        try:
            kills += kill_run(rng.choice(references), out, rng)
        except Exception:
            left = sorted(str(path.relative_to(out)) for path in out.rglob("*")) if out.exists() else []
            findings.append(f"run {runs} of {seed}:\n{traceback.format_exc()}left: {left}")
        shutil.rmtree(out, ignore_errors=True)
    return kills, runs, findings


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100, help="kills")
    parser.add_argument("--seconds", type=float, default=1200, help="begin no run after this time")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=TASKS, help="a task")
    options = parser.parse_args(arguments)
    begun = time.monotonic()
    kills, runs, findings = Counter[str](), 0, list[str]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        references = [prepare(task, folder) for task in ([options.only] if options.only else TASKS)]
        share = -(-options.count // options.jobs)
        given = references, folder, share, begun + options.seconds
        calls = [(*given, f"{options.seed}-{job}") for job in range(options.jobs)]
        with get_context("fork").Pool(options.jobs) as pool:
            for part, more, found in pool.starmap(work, calls):
                kills, runs, findings = kills + part, runs + more, findings + found
    print(*findings, sep="\n", end="\n" * bool(findings), file=sys.stderr)
    said = ", ".join(f"{what} {count}" for what, count in kills.most_common())
    seconds = time.monotonic() - begun
    print(f"{kills.total()} kills ({said}) of {runs} runs: {len(findings)} findings in {seconds:.0f} s")
    return bool(findings)


def load_all() -> None:
    """Import what runs import, once for all of them, and start no thread: one would not survive a fork."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    torch.set_num_threads(1)
    for module in ("torch._dynamo", "elman.pipeline"):
        import_module(module)
    for task in TASKS:
        registry.TASKS[task].load()


if __name__ == "__main__":
    load_all()
    sys.exit(main())
