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
from tests.mutants.whole_files import WholeFiles

FIRST_BATCH = 4.0  # seconds of tests that are imported and run before the others are
START = 60.0  # seconds to import everything on a busy machine
SLOWER = 4  # times a test may take longer than it did
RECORDING_LIMIT = 120.0  # seconds for the tests of one file


class Worker:
    """What a process of the pool keeps: its tree, the map, when to stop."""

    tree: Path
    coverage: CoverageMap | WholeFiles
    patience: float
    deadline: float


def set_up_worker(
    warm_tree: Path, coverage: CoverageMap | WholeFiles | None, patience: float, deadline: float
) -> None:
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    Worker.tree = copy_tree(warm_tree, warm_tree.parents[1])
    Worker.coverage, Worker.patience, Worker.deadline = coverage or CoverageMap(), patience, deadline


def compile_tree(tree: Path, files: list[str]) -> None:
    """These test files imported once, with checks and without, where pytest has not compiled them before: so
    copies of this tree start from compiled code."""
    files = [file for file in files if not _is_compiled(tree / file)]

    def collect(checked: bool) -> int:
        check_shapes(checked)
        sys.dont_write_bytecode = False  # whatever the environment says
        return int(pytest.main(["-q", "--collect-only", *files]))

    import pytest

    from tests.mutants.pytest_run import check_shapes

    for checked in (False, True) if files else ():
        call_in_fork(tree, partial(collect, checked), 2 * RECORDING_LIMIT)


def _is_compiled(path: Path) -> bool:
    compiled = path.parent.glob(f"__pycache__/{path.stem}.*-pytest-*.pyc")
    return any(one.stat().st_mtime > path.stat().st_mtime for one in compiled)


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
    """First without checks of shapes, which take most of the time and only add failures; then the nearest."""
    parts = [*batches(tests)]
    for checked, batch in [*((False, part) for part in parts), *((True, part) for part in parts[:1])]:
        limit = START + SLOWER * sum(test.seconds for test in batch)
        names = [test.name for test in batch]
        run = partial(_first_failure, names, checked, Worker.patience)
        failure = call_in_fork(Worker.tree, run, limit)
        if failure is None:
            return "a time limit, or the end of the process"
        if failure:
            return str(failure)
    return ""


def failing_unchanged(names: set[str]) -> set[str]:
    """Those of these tests that fail in the tree as it is, without checks or with them, or all where that takes
    too long."""
    return _failing(names, checked=False) | _failing(names, checked=True)


def _failing(names: set[str], *, checked: bool) -> set[str]:
    waiting, failing = set(names), set[str]()
    while waiting:
        failure = call_in_fork(Worker.tree, partial(_first_failure, sorted(waiting), checked), RECORDING_LIMIT)
        if not failure:
            return failing | (waiting if failure is None else set())
        if failure not in waiting:
            return set(names)
        failing.add(failure)
        waiting.remove(failure)
    return failing


def _first_failure(names: list[str], checked: bool, seconds: float = float("inf")) -> str:
    from tests.mutants.pytest_run import first_failure

    return first_failure(names, checked=checked, seconds=seconds)


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
