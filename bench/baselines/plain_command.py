"""Our side: the plain command in a process of its own, with nothing said but what the files hold."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from baselines import OURS, BenchSet, Outcome
from baselines.classifier_sets import read_rows
from baselines.pair_sets import read_groups, score_texts
from baselines.wall_limit import end_in_time, time_left
from elman.files.model_files import RUN


class Finished(NamedTuple):
    """What a process printed, and its processor time."""

    stdout: str
    seconds: float


def run_plain_command(corpus: BenchSet, seed: int) -> Outcome:
    """Train by `elman train TASK` and score the test data."""
    with tempfile.TemporaryDirectory() as name:
        model, one_core = str(Path(name) / "model"), ("--threads", "1", "--device", "cpu", "--seed", str(seed))
        files = ["--train", corpus.train, *(["--valid", corpus.valid] if corpus.valid else []), "--out", model]
        done = run_elman("train", corpus.task, *map(str, files), *corpus.options, *one_core)
        score = SCORERS.get(corpus.task, _evaluate)(corpus, model)
        record = json.loads((Path(model) / RUN).read_text(encoding="utf-8"))
    details = {"chosen": record.get("chosen", {})}
    return Outcome(corpus.name, OURS, seed, corpus.metric, score, done.seconds, details)


def run_elman(*arguments: str, given: str = "") -> Finished:
    """A verb of the command line on one thread."""
    return run_process([sys.executable, "-m", "elman", *arguments], given)


def run_process(command: Sequence[str], given: str = "", folder: Path | None = None) -> Finished:
    """A process on one thread, with its own processor time; its standard error stands in the exception."""
    if (left := time_left()) <= 0:
        raise RuntimeError("the time of the bench was up before it began")
    single = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        with tempfile.TemporaryFile("w+") as source:
            source.write(given)
            source.seek(0)
            streams = {"stdin": source, "stdout": out, "stderr": err}
            process = subprocess.Popen(command, **streams, env=os.environ | single, cwd=folder)
            with end_in_time(process, left):
                _, status, usage = os.wait4(process.pid, 0)  # the one call that tells one child's time
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode:
            raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}: {err.read()[-2000:]}")
        return Finished(out.read(), usage.ru_utime + usage.ru_stime)


def _evaluate(corpus: BenchSet, model: str) -> float:
    found = run_elman("evaluate", model, str(corpus.test), *_columns(corpus), "--device", "cpu", "--json")
    return float(json.loads(found.stdout)[corpus.metric])


def _classify(corpus: BenchSet, model: str) -> float:
    """By its answers: a text whose label the training data has not is answered wrongly, by every system."""
    rows = read_rows(corpus.test)
    done = run_elman("predict", model, "-", "--device", "cpu", given="".join(f"{text}\n" for text, _ in rows))
    pairs = zip(done.stdout.splitlines(), rows, strict=True)
    return 100 * sum(answer == label for answer, (_, label) in pairs) / len(rows)


def _columns(corpus: BenchSet) -> Sequence[str]:
    """Those options that evaluating takes, too."""
    return corpus.options if corpus.task == "tagger" else ()


def _translate(corpus: BenchSet, model: str) -> float:
    """By what it writes, so that all systems are scored by one function."""
    sources = "".join(f"{source}\n" for source, _ in read_groups(corpus.test))
    done = run_elman("predict", model, "-", "--device", "cpu", given=sources)
    return score_texts(corpus, done.stdout.splitlines())


SCORERS = {"classifier": _classify, "seq2seq": _translate}
"""Where `elman evaluate` is not what scores."""
