"""Which tests run which lines, and how long they take: so that a mutant meets only tests that can notice it."""

import gzip
import hashlib
import json
from collections import defaultdict
from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

from tests.mutants.imports import imported_files
from tests.mutants.mutant import Mutant
from tests.mutants.rooms import room_of

# What these run, they run in processes of their own.
UNMAPPED = ("tests/test_docs.py", "tests/test_project.py", "tests/cli/test_guide.py", "tests/mutants/")
UNMAPPED += ("tests/course/test_notebooks.py",)
LONGEST_TEST = 20.0  # seconds
ASSUMED = 15.0  # seconds for a test file that was not recorded
MOST_FILES = 3  # of those for one mutant


Lines = dict[str, list[int]]  # numbers of lines by the path of a file


class TestTime(NamedTuple):
    __test__ = False
    name: str
    seconds: float


class CoverageMap:
    def __init__(self) -> None:
        self.by_line: dict[tuple[str, int], set[TestTime]] = defaultdict(set)
        self.by_file: dict[str, set[TestTime]] = defaultdict(set)
        self.by_room: dict[str, set[TestTime]] = defaultdict(set)
        self.focus: dict[tuple[str, str], float] = {}  # which share of the lines that a test runs is in a file

    def add(
        self, name: str, seconds: float, lines: dict[str, list[int]], changed: Collection[str] = ()
    ) -> None:
        """A test and the lines that it runs. Of changed files it is not known any more which these are."""
        if seconds > LONGEST_TEST:
            return
        test, total = TestTime(name, seconds), sum(map(len, lines.values()))
        self.by_room["/".join(name.split("::")[0].split("/")[1:-1])].add(test)
        for path, numbers in lines.items():
            self.by_file[path].add(test)
            self.focus[name, path] = len(numbers) / total
            for line in numbers if path not in changed else ():
                self.by_line[path, line].add(test)

    def add_file(self, name: str, paths: Collection[str]) -> None:
        """A test file that was not recorded, as a whole, and the files that it imports."""
        test = TestTime(name, ASSUMED)
        self.by_room["/".join(name.split("/")[1:-1])].add(test)
        for path in paths:
            self.by_file[path].add(test)

    def tests_of(self, mutant: Mutant, patience: float) -> list[TestTime]:
        """The tests of the line, test files that were not recorded, other tests of the file: first what is fast
        and runs little else.

        What runs only when a module is imported belongs to no line of a test, and what a subprocess runs to no
        test at all: there it is all tests of the file and of the room.
        """
        path, lines = mutant.path, range(mutant.line, mutant.last_line + 1)
        near = set().union(*(self.by_line.get((path, line), set()) for line in lines))
        candidates = self.by_file.get(path, set())
        if not near:
            candidates = candidates | self.by_room.get(room_of(path), set())

        def place(test: TestTime) -> tuple[float, str]:
            return test.seconds / self.focus.get((test.name, path), 1.0), test.name

        whole = {test for test in candidates if "::" not in test.name}
        alike = [test for test in whole if _stem(test.name) in _stem(path) or _stem(path) in _stem(test.name)]
        files = dict.fromkeys([*sorted(alike), *sorted(whole & self.by_file.get(path, set())), *sorted(whole)])
        chosen = _within(sorted(near, key=place), patience)
        chosen += list(files)[:MOST_FILES]
        patience -= sum(test.seconds for test in chosen if test in near)
        return chosen + _within(sorted(candidates - near - whole, key=place), patience, first=not chosen)


def _within(tests: list[TestTime], patience: float, *, first: bool = True) -> list[TestTime]:
    """As many as take so many seconds; the first one in any case."""
    chosen: list[TestTime] = []
    for test in tests:
        if (first and not chosen) or test.seconds <= patience:
            patience -= test.seconds
            chosen.append(test)
    return chosen


def _stem(path: str) -> str:
    return Path(path).stem.removeprefix("test_")


def test_files(root: Path) -> list[str]:
    """The longest first, so that no worker is left alone with it at the end."""
    files = [path for path in (root / "tests").rglob("test_*.py") if "campaign" not in path.parts]
    files.sort(key=lambda path: -path.stat().st_size)
    names = [path.relative_to(root).as_posix() for path in files]
    return [name for name in names if not name.startswith(UNMAPPED)]


def digest(paths: list[Path]) -> str:
    whole = hashlib.sha256()
    for path in sorted(paths):
        whole.update(path.read_bytes())
    return whole.hexdigest()[:16]


class MapFile:
    """The records of test files on disk. Where the package has changed since, the lines of a changed file are
    forgotten, not its tests."""

    def __init__(self, path: Path, root: Path) -> None:
        self.path, self.root = path, root
        sources = (root / "src").rglob("*.py")
        self.sources = {source.relative_to(root).as_posix(): digest([source]) for source in sources}
        self.entries: dict[str, dict[str, Any]] = {}
        if path.exists():
            self.entries = json.loads(gzip.decompress(path.read_bytes()))

    def stale(self) -> list[str]:
        """The test files that are new or have changed."""
        files = test_files(self.root)
        self.entries = {file: self.entries[file] for file in files if file in self.entries}
        return [f for f in files if self.entries.get(f, {}).get("digest") != digest([self.root / f])]

    def add(self, file: str, tests: dict[str, Any]) -> None:
        seen = {path for test in tests.values() for path in test["lines"]}
        sources = {path: self.sources[path] for path in seen}
        self.entries[file] = {"digest": digest([self.root / file]), "sources": sources, "tests": tests}

    def write(self) -> None:
        self.path.write_bytes(gzip.compress(json.dumps(self.entries).encode(), 5))

    def load(self, paths: tuple[str, ...] = ("",)) -> CoverageMap:
        """Of the test files whose names begin so."""
        coverage, stale = CoverageMap(), self.stale()
        for file in stale:
            if file.startswith(paths):
                coverage.add_file(file, imported_files(self.root, self.root / file))
        for file, entry in self.entries.items():
            if file in stale or not file.startswith(paths):
                continue
            changed = {path for path, known in entry["sources"].items() if self.sources.get(path) != known}
            for name, test in entry["tests"].items():
                coverage.add(name, test["seconds"], test["lines"], changed)
        return coverage
