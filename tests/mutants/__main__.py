"""``make mutants``: break the package in many small ways, one at a time, and see whether a test notices.

Each mutant runs in a copy of the tree against the tests that execute its line, the fastest first. A test that
hangs has noticed, too. At the end the tests that noticed run without any change: one that fails then has
noticed nothing. Answers are appended to a file: a run that was out of time goes on where it stopped.
"""

import argparse
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.mutants.coverage_map import CoverageMap, MapFile, digest, test_files
from tests.mutants.fork import copy_tree, import_heavy_packages
from tests.mutants.mutant import Mutant
from tests.mutants.results import ResultFile, read_equivalent, summarize
from tests.mutants.rooms import sample
from tests.mutants.trial import compile_tree, failing_unchanged, record, set_up_worker, try_mutant
from tests.mutants.whole_files import WholeFiles

ROOT = Path(__file__).parents[2]
GRACE = 20  # seconds after the deadline for what has begun


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at once")
    parser.add_argument("--seconds", type=float, default=3600, help="begin nothing new after that long")
    parser.add_argument("--seed", type=int, default=0, help="another seed is another sample")
    parser.add_argument("--core", type=int, default=60, help="mutants of each core room")
    parser.add_argument("--other", type=int, default=20, help="mutants of each other room")
    parser.add_argument(
        "--room", action="append", default=[], help="only this room, file or folder (several times)"
    )
    parser.add_argument("--tests", action="append", default=[], help="only tests of such paths (several times)")
    parser.add_argument(
        "--whole-files", type=int, default=0, metavar="N", help="record nothing: the N likeliest test files"
    )
    parser.add_argument("--patience", type=float, default=30, help="seconds of tests for one mutant")
    parser.add_argument("--out", type=Path, default=ROOT / ".mutants", help="folder of results")
    options = parser.parse_args()
    options.tests = tuple(options.tests) or ("",)
    return options


def main() -> int:
    options = arguments()
    deadline = time.time() + options.seconds
    options.out.mkdir(parents=True, exist_ok=True)
    chosen = sample(ROOT, options.seed, {True: options.core, False: options.other}, options.room)
    import_heavy_packages()
    workplace = Path(tempfile.mkdtemp(prefix="mutants-"))
    try:
        warm_tree = copy_tree(ROOT, workplace)
        compile_tree(warm_tree, [file for file in test_files(ROOT) if file.startswith(options.tests)])
        coverage = MapFile(options.out / "coverage.json.gz", ROOT)
        if not options.whole_files:
            record_tests(coverage, warm_tree, options, deadline)
        answers = try_all(chosen, coverage, warm_tree, options, deadline)
    finally:
        shutil.rmtree(workplace, ignore_errors=True)
    lines = summarize(answers)
    (options.out / "report.txt").write_text("\n".join(lines) + "\n")
    print(*lines, sep="\n")
    left = len(chosen) - len(answers)
    print(f"\n{left} mutants not tried yet: run it again" if left else "", end="\n" if left else "")
    return 0


def record_tests(coverage: MapFile, tree: Path, options: argparse.Namespace, deadline: float) -> None:
    stale = [file for file in coverage.stale() if file.startswith(options.tests)]
    try:
        with pool(options.jobs if stale else 1, tree, None, 0, deadline) as workers:
            for i, answer in enumerate(answers_in_time(workers.imap_unordered(record, stale), deadline)):
                coverage.add(*answer)
                if i % 10 == 9:
                    coverage.write()
                report(f"recorded {i + 1} of {len(stale)} test files: {answer[0]}")
    finally:
        coverage.write()  # what was recorded stays, whatever ends this run


def try_all(
    chosen: list[Mutant], coverage: MapFile, tree: Path, options: argparse.Namespace, deadline: float
) -> list[dict[str, Any]]:
    """The answers about all chosen mutants that there are when the time is up."""
    results, equivalent = ResultFile(options.out / "results.jsonl"), read_equivalent()
    version = digest([path for folder in ("src", "tests") for path in (ROOT / folder).rglob("*.py")])
    waiting = [m for m in chosen if m.key not in equivalent and not results.is_settled(m.key, version)]
    new: list[dict[str, Any]] = []
    known: CoverageMap | WholeFiles = coverage.load(options.tests)
    if options.whole_files:
        files = [file for file in test_files(ROOT) if file.startswith(options.tests)]
        known = WholeFiles(ROOT, files, options.whole_files)
    with pool(options.jobs, tree, known, options.patience, deadline) as workers:
        for answer in answers_in_time(workers.imap_unordered(try_mutant, waiting), deadline):
            new.append(answer)
            results.add(answer | {"tree": version})
            report(
                f"{'killed  ' if answer['killed'] else 'SURVIVED'} {answer['seconds']:5.1f} s  {answer['key']}"
            )
    with pool(options.jobs, tree, None, 0, deadline) as workers:
        failing = find_failing(workers, [answer["by"] for answer in new])
    for answer in new:
        if answer["by"] in failing:
            results.take_back(answer["key"])
    return [results.answers[m.key] for m in chosen if m.key in results.answers]


def find_failing(workers: Any, killers: list[str]) -> set[str]:
    """Those of these tests that fail without any change: their mutants stay for another run."""
    by_file: dict[str, set[str]] = {}
    for name in killers:
        if "::" in name:
            by_file.setdefault(name.split("::")[0], set()).add(name)
    failing = {name for names in workers.imap_unordered(failing_unchanged, by_file.values()) for name in names}
    for name in sorted(failing):
        report(f"without any change, this fails: {name}")
    return failing


def answers_in_time(answers: Any, deadline: float) -> Iterator[Any]:
    """What comes before the deadline and a little more; the rest stays for another run."""
    while True:
        try:
            answer = answers.next(timeout=max(deadline + GRACE - time.time(), 0.1))
        except (StopIteration, multiprocessing.TimeoutError):
            return
        if answer is not None:
            yield answer


def pool(jobs: int, *initial: Any) -> Any:
    return multiprocessing.get_context("fork").Pool(jobs, set_up_worker, initial)


def report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
