"""Training and evaluating a language model as a person meets it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

SONG = "the cat sat on the mat\nand the dog sat on the log\n"
QUICK = ["--hidden", "16", "--embedding", "16", "--layers", "1", "--dropout", "0", "--lr", "0.02"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with two texts and a model m."""
    folder = tmp_path_factory.mktemp("lm")
    (folder / "a.txt").write_text(SONG * 100)
    (folder / "b.txt").write_text(SONG * 10)
    command = ["train", "lm", "--train", "a.txt", "--valid", "b.txt", "--out", "m", "--epochs", "3"]
    done = elman(folder, *command, *QUICK)
    assert done.returncode == 0, done.stderr
    return folder


def elman(folder: Path, *arguments: str, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": str(folder / "home")}
    return subprocess.run(
        [sys.executable, "-m", *before, "elman", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )


def test_evaluate_prints_one_object_with_the_promised_keys(folder: Path) -> None:
    done = elman(folder, "evaluate", "m", "b.txt", "--json")
    scores = json.loads(done.stdout)
    assert scores["perplexity"] < 1.3
    assert scores["tokens"] == 150
    assert {"nats_per_token", "bits_per_token", "bits_per_character"} < scores.keys()


def test_a_cache_and_dynamic_evaluation_are_options(folder: Path) -> None:
    (folder / "c.txt").write_text("log mat sat\n" * 40)
    ways = ["--cache", "--dynamic", "--set", "dynamic.rate=0.01", "--set", "dynamic.warm=2"]
    plain = json.loads(elman(folder, "evaluate", "m", "c.txt", "--json").stdout)
    adapted = json.loads(elman(folder, "evaluate", "m", "c.txt", "--json", *ways).stdout)
    assert adapted["perplexity"] < plain["perplexity"] / 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--set", "cache.window=3"], "--set cache needs --cache, too"),
        (["--cache", "--set", "cache.windw=3"], "did you mean 'window'"),
        (["--cache", "--set", "cache.share=2"], "cache.share is 2.0"),
        (["--column", "1"], "--column is not for a lm"),
    ],
)
def test_wrong_options_are_one_line(folder: Path, options: list[str], said: str) -> None:
    done = elman(folder, "evaluate", "m", "b.txt", *options)
    assert done.returncode == 1
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_encoded_text_lies_in_the_cache_folder_and_not_in_the_model(folder: Path) -> None:
    kept = sorted(path.suffix for path in (folder / "home" / "elman").iterdir() if path.name != "native")
    assert kept == [".ids", ".json", ".tokens"]
    assert not list((folder / "m").glob("*.ids"))


def test_two_processes_train_the_model_that_one_does(folder: Path) -> None:
    """Five streams: of unequal shares, and each process carries the states of its own."""
    base = ["train", "lm", "--train", "a.txt", "--valid", "b.txt", "--epochs", "2", "--batch", "5"]
    base += ["--bptt", "7", *QUICK]
    alone = elman(folder, *base, "--out", "one")
    assert alone.returncode == 0, alone.stderr
    run = ("torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m")
    both = elman(folder, *base, "--out", "two", before=run)
    assert both.returncode == 0, both.stderr
    one, two = (load_file(folder / name / "model.safetensors") for name in ("one", "two"))
    for name, value in one.items():
        torch.testing.assert_close(two[name], value, rtol=0, atol=2e-3)
    carried = [load_file(folder / name / "checkpoint.safetensors")["carried/bytes"] for name in ("one", "two")]
    assert carried[0].shape == carried[1].shape
