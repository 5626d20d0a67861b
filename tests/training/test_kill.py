"""A run that is killed, at any moment and again and again, ends like one that never was."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

import toy
from safetensors.torch import load_file

# Wide enough that most of the time goes into writing checkpoints, after every update.
OPTIONS = {"width": 20000, "settings": {"epochs": 25, "ema_decay": 0.9, "checkpoint_minutes": 1e-9}}


def start(folder: Path) -> BaseProcess:
    """A run in a process of its own, of a kind that starts fast: PyTorch is imported once for all."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["toy", "torch._dynamo"])  # which optimizers import
    process = context.Process(target=toy.main, args=(folder, OPTIONS))
    process.start()
    return process


def finish(folder: Path) -> None:
    process = start(folder)
    process.join()
    assert process.exitcode == 0


def lines(folder: Path) -> int:
    path = folder / "metrics.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def killed(folder: Path, *, writing: bool, moment: float) -> None:
    """Run for a while, then kill: at a moment, or while a checkpoint is half written."""
    half = folder / "checkpoint.safetensors.tmp"
    process, before = start(folder), lines(folder)
    while lines(folder) <= before + 2 and process.is_alive():
        time.sleep(0.001)
    time.sleep(moment)
    while writing:
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(0.001)
        if half.exists():
            break
        os.kill(process.pid, signal.SIGCONT)
    process.kill()
    process.join()
    assert half.exists() or not writing
    assert not (folder / "final").exists()


def test_a_killed_run_ends_bit_for_bit_like_one_that_was_not(tmp_path: Path) -> None:
    finish(tmp_path / "whole")
    moments = random.Random(1)
    for kill in range(6):
        killed(tmp_path / "parts", writing=kill % 2 == 1, moment=moments.uniform(0, 0.1))
    finish(tmp_path / "parts")
    whole, parts = (load_file(tmp_path / name / "final") for name in ("whole", "parts"))
    assert set(whole) == set(parts)
    for name, value in whole.items():
        assert value.equal(parts[name])
    logs = [(tmp_path / name / "metrics.jsonl").read_bytes() for name in ("whole", "parts")]
    assert logs[0] == logs[1]
