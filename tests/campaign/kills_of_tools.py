"""Kill what is no training: a library of C++ while it is built, and a search for settings.

After every kill of a build there is the whole library or none, and whoever comes next builds it. A search goes
on where it was: a trial that had ended keeps its result, and the result of all is a model.

    python -m tests.campaign.kills_of_tools --builds 300 --searches 20 --jobs 8
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import elman
from elman.native.library import build_library, find_library, is_whole, load_library
from elman.native.processor import find_level
from tests.campaign.small_runs import make_recipe
from tests.folders.killing import kill_after, kill_at_step

SOURCE = '#include "lanes.hpp"\nextern "C" int number() { return %d; }'
TRIALS, MOST = 3, 3  # of a search, and kills of it
LIMIT = 300  # seconds


def kill_builds(folder: Path, rng: random.Random) -> int:
    """A build that is killed again and again, then one that is not: how many kills."""
    os.environ["ELMAN_CACHE"] = str(folder)
    number, level, kills = rng.randrange(10**6), find_level(), 0
    source, cache = SOURCE % number, folder / "native"
    while kills < MOST:
        build = partial(build_library, source, level, cache)
        at_step = rng.random() < 0.5
        killed = kill_at_step(rng.randint(1, 12), build) if at_step else kill_after(rng.uniform(0, 2), build)
        found = find_library(source, level)
        assert found is None or is_whole(found)
        if not killed:
            break
        kills += 1
    assert load_library(source).number() == number
    return kills


def kill_search(folder: Path, rng: random.Random) -> int:
    """A search that is killed a few times before it ends: how many kills."""
    recipe = make_recipe("classifier", folder, rng.randrange(100))
    out, kills = folder / "tuned", 0
    files = ["--train", recipe["data"]["train"], "--valid", recipe["data"]["valid"], "--hidden", "8"]
    words = ["tune", "classifier", *files, "--minutes", "0.5", "--trials", str(TRIALS), "--jobs", "1", "--out"]
    while True:
        resume = ["--resume"] if (out / "search.json").exists() else []
        command = [sys.executable, "-m", "elman", *words, str(out), *resume]
        before = _results(out)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            _, said = process.communicate(timeout=rng.uniform(1, 12) if kills < MOST else LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            _, said = process.communicate()  # it may have ended by itself just then
            kills += 1
            time.sleep(1)  # its training ends with it, and lets go of the folder
        after = _results(out)
        assert before.items() <= after.items(), f"results were lost: {before} {after}"
        if process.returncode >= 0:
            break
    assert process.returncode == 0, said.decode()
    assert elman.load(out / "model", elman.Classifier).predict(["the city"])
    return kills


def _results(out: Path) -> dict[str, bytes]:
    """The scores of each training of the search that has ended."""
    return {str(path.relative_to(out)): path.read_bytes() for path in out.glob("trials/*/*/metrics.json")}


def work(kill: Callable[[Path, random.Random], int], count: int, seed: str) -> tuple[int, list[str]]:
    """Kills of one process, and what was wrong after them."""
    kills, findings = 0, list[str]()
    for number in range(count):
        folder = Path(tempfile.mkdtemp())
        try:
            kills += kill(folder, random.Random(f"{seed} {number}"))
        except Exception:
            findings.append(f"{kill.__name__} {seed} {number}:\n{traceback.format_exc()}")
        shutil.rmtree(folder, ignore_errors=True)
    return kills, findings


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--builds", type=int, default=20)
    parser.add_argument("--searches", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    begun, all_findings = time.monotonic(), list[str]()
    with get_context("fork").Pool(options.jobs) as pool:
        for kill, count in ((kill_builds, options.builds), (kill_search, options.searches)):
            share = -(-count // options.jobs)
            calls = [(kill, share, f"{options.seed}-{job}") for job in range(options.jobs) if count]
            results = pool.starmap(work, calls)
            findings = [one for _, found in results for one in found]
            kills, runs = sum(kills for kills, _ in results), share * len(calls)
            print(f"{kill.__name__}: {kills} kills of {runs} runs: {len(findings)} findings", flush=True)
            all_findings += findings
    print(*all_findings, sep="\n", end="\n" * bool(all_findings), file=sys.stderr)
    print(f"{time.monotonic() - begun:.0f} s")
    return bool(all_findings)


if __name__ == "__main__":
    sys.exit(main())
