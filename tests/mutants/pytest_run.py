"""pytest in this process: the tests of some files, recorded or in a given order."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mutants.line_recorder import line_recorder


class Record:
    """A plugin: how long each test that passes takes, and which lines of the package it runs."""

    def __init__(self, tree: Path, limit: float) -> None:
        self.tree = tree
        self.end = time.perf_counter() + limit
        self.recorder = line_recorder(str(tree / "src" / "elman"))
        self.tests: dict[str, dict[str, Any]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        began = time.perf_counter()
        self.recorder.start()
        try:
            return (yield)
        finally:
            lines: dict[str, list[int]] = {}
            for path, line in sorted(self.recorder.stop()):
                lines.setdefault(str(Path(path).relative_to(self.tree)), []).append(line)
            entry = self.tests.setdefault(item.nodeid, {"passed": False})
            entry |= {"seconds": round(time.perf_counter() - began, 3), "lines": lines}
            if time.perf_counter() > self.end:
                item.session.shouldstop = "a file of tests that take very long"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self.tests.setdefault(report.nodeid, {})["passed"] = report.passed


class Chosen:
    """A plugin: these tests alone, or all of a file, in this order; failures of Hypothesis stay as they are."""

    def __init__(self, names: list[str], seconds: float = float("inf")) -> None:
        self.end = time.process_time() + seconds
        self.is_over = False
        self.place = {name: i for i, name in enumerate(names)}
        self.failure = ""

    def pytest_sessionstart(self) -> None:
        try:
            from hypothesis import Phase, settings
        except ModuleNotFoundError:
            return
        settings.register_profile("mutants", settings(), phases=[Phase.explicit, Phase.generate])
        settings.load_profile("mutants")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        kept = [(place, item) for item in items if (place := self._place(item.nodeid)) is not None]
        items[:] = [item for _, item in sorted(kept, key=lambda pair: pair[0])]

    def _place(self, name: str) -> int | None:
        return self.place.get(name, self.place.get(name.split("::")[0]))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        if time.process_time() > self.end:
            self.is_over, item.session.shouldstop = True, "out of time"
        return True if self.is_over else None  # True: nothing is left to run of it

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failure:
            self.failure = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and not self.failure:
            self.failure = report.nodeid


def check_shapes(checked: bool) -> None:
    """Whether `tests/conftest.py` of this process will check the shapes in signatures."""
    os.environ.pop("ELMAN_UNCHECKED", None)
    if not checked:
        os.environ["ELMAN_UNCHECKED"] = "1"


def record_file(tree: Path, file: str, limit: float) -> dict[str, dict[str, Any]]:
    """The tests of a file that pass, begun before the limit; none where it needs a package that is missing."""
    plugin = Record(tree, limit)
    check_shapes(False)
    pytest.main(["-q", file], plugins=[plugin])
    return {name: test for name, test in plugin.tests.items() if test["passed"]}


def first_failure(names: list[str], *, checked: bool = True, seconds: float = float("inf")) -> str:
    """The first of these tests that fails within so many seconds of the processor, or nothing."""
    check_shapes(checked)
    plugin = Chosen(names, seconds)
    files = list(dict.fromkeys(name.split("::")[0] for name in names))
    try:
        code = pytest.main(["-q", "-x", "--tb=no", *files], plugins=[plugin])
    except BaseException as error:  # a mutant may end pytest itself
        return f"pytest ended with {type(error).__name__}"
    if plugin.is_over:
        return plugin.failure
    unnoticed = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)  # none: a package is missing here
    return "" if code in unnoticed else plugin.failure or f"pytest ended with {int(code)}"
