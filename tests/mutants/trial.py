"""One mutant in a copy of the tree against the tests that can notice it; one test file recorded."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.mutants.coverage_map import CoverageMap, TestTime
from tests.mutants.fork import call_in_fork, copy_tree
from tests.mutants.mutant import Mutant

FIRST_BATCH = 4.0  # seconds of tests that are imported and run before the others are
START = 30.0  # seconds to import everything on a busy machine
SLOWER = 4  # times a test may take longer than it did
RECORDING_LIMIT = 120.0  # seconds for the tests of one file


class Worker:
    """What a process of the pool keeps: its tree, the map, when to stop."""

    tree: Path
    coverage: CoverageMap
    patience: float
    deadline: float


def set_up_worker(warm_tree: Path, coverage: CoverageMap | None, patience: float, deadline: float) -> None:
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    Worker.tree = copy_tree(warm_tree, warm_tree.parents[1])
    Worker.coverage, Worker.patience, Worker.deadline = coverage or CoverageMap(), patience, deadline


def compile_tree(tree: Path) -> None:
    """Everything imported once, so that copies of this tree start from compiled code."""
    import pytest

    call_in_fork(tree, lambda: int(pytest.main(["-q", "--collect-only", "tests"])), 2 * RECORDING_LIMIT)


def record(file: str) -> tuple[str, dict[str, Any]] | None:
    """The tests of a file; none where it is too slow; no answer where the time is up."""
    if time.time() > Worker.deadline:
        return None

    def run() -> dict[str, Any]:
        from tests.mutants.pytest_run import record_file

        return record_file(Worker.tree, file, RECORDING_LIMIT)

    return file, call_in_fork(Worker.tree, run, START + 2 * RECORDING_LIMIT) or {}


def try_mutant(mutant: Mutant) -> dict[str, Any] | None:
    """Killed, by which test and in how many seconds; None where the time is up."""
    began = time.time()
    if began > Worker.deadline:
        return None
    tests = Worker.coverage.tests_of(mutant, Worker.patience)
    with written(Worker.tree, mutant):
        killer = find_killer(tests)
    return {
        "key": mutant.key,
        "place": f"{mutant.path}:{mutant.line}",
        "killed": bool(killer),
        "by": killer,
        "tests": len(tests),
        "seconds": round(time.time() - began, 1),
    }


def find_killer(tests: list[TestTime]) -> str:
    for batch in batches(tests):
        limit = START + SLOWER * sum(test.seconds for test in batch)
        failure = call_in_fork(Worker.tree, partial(_first_failure, [test.name for test in batch]), limit)
        if failure is None:
            return "a time limit, or the end of the process"
        if failure:
            return str(failure)
    return ""


def failing_unchanged(names: set[str]) -> set[str]:
    """Those of these tests that fail in the tree as it is, or all where that takes too long."""
    waiting, failing = set(names), set[str]()
    while waiting:
        failure = call_in_fork(Worker.tree, partial(_first_failure, sorted(waiting)), RECORDING_LIMIT)
        if not failure:
            return failing | (waiting if failure is None else set())
        if failure not in waiting:
            return set(names)
        failing.add(failure)
        waiting.remove(failure)
    return failing


def _first_failure(names: list[str]) -> str:
    from tests.mutants.pytest_run import first_failure

    return first_failure(names)


def batches(tests: list[TestTime]) -> Iterator[list[TestTime]]:
    """A first few seconds, then all others."""
    spent, first = 0.0, 0
    while first < len(tests) and (spent := spent + tests[first].seconds) <= FIRST_BATCH:
        first += 1
    first = max(first, 1)
    yield from (batch for batch in (tests[:first], tests[first:]) if batch)


@contextmanager
def written(tree: Path, mutant: Mutant) -> Iterator[None]:
    """The mutant in place of its file, newer than all compiled code; then the file as it was, with its time."""
    path = tree / mutant.path
    source, times = path.read_bytes(), path.stat()
    path.write_bytes(mutant.apply(source))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns + 10**10))
    try:
        yield
    finally:
        path.write_bytes(source)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
