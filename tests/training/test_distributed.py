"""Several processes under torchrun; each test is one start of it, since those take seconds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from toy import Net, Problem, of

from elman.training.distributed import World, get_world, is_main_process, local_device
from elman.training.events import Update
from elman.training.training_config import TrainingConfig

TOY = Path(__file__).with_name("toy.py")
# 23 examples in batches of 4: shares of unequal size, and at the end of an epoch 3 for two, or none.
PLAIN = {"plain": True, "count": 23, "size": 4}


def torchrun(folder: Path, options: dict[str, Any], *flags: str) -> str:
    """Train the toy in two processes; what they said."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, *flags, str(TOY), str(folder), json.dumps(options)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def alone(options: dict[str, Any]) -> Problem:
    problem = Problem(Net(plain=True), options["count"], options["size"])
    problem.happened = list(problem.fit(TrainingConfig(**options["settings"])))
    return problem


def compare(folder: Path, problem: Problem) -> None:
    final = load_file(folder / "final")
    for name, value in problem.net.named_parameters():
        torch.testing.assert_close(final[name], value.data, rtol=0, atol=1e-5)
    text = (folder / "metrics.jsonl").read_text()
    losses = [json.loads(line).get("loss") for line in text.splitlines()]
    expected = [update.loss for update in of(Update, problem.happened)]
    assert [loss for loss in losses if loss is not None] == pytest.approx(expected, abs=1e-5)


def test_two_processes_are_one_with_the_same_batches(tmp_path: Path) -> None:
    """Also with accumulation, unequal shares and averaged weights."""
    settings = {"updates": 50, "grad_accumulation": 2, "ema_decay": 0.9, "lr": 0.01, "evaluate_every": 9}
    options = {**PLAIN, "settings": settings}
    said = torchrun(tmp_path, options)
    assert said.count("all updates done") == 1
    compare(tmp_path, alone(options))


def test_a_run_that_loses_a_process_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    """With a batch of one example: the second process has nothing to do for it."""
    settings = {"updates": 40, "lr": 0.01, "schedule": "plateau", "evaluate_every": 7}
    options = {"plain": True, "count": 21, "size": 4, "lost": 17, "settings": settings}
    said = torchrun(tmp_path, options, "--max-restarts=1")
    assert said.count("update 7  error") == 1
    compare(tmp_path, alone(options))


def test_one_process_is_a_world_of_its_own() -> None:
    assert get_world() == World(0, 1)
    assert get_world().first("a") == "a"
    assert get_world().sum(1.5, 2.0) == [1.5, 2.0]
    assert get_world().any(True)
    assert not get_world().any(False)
    assert is_main_process()
    assert local_device("cpu") == torch.device("cpu")
