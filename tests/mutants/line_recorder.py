"""Which lines of the package run while a test runs."""

import sys
from types import CodeType, FrameType
from typing import Any

Lines = set[tuple[str, int]]


class TracedLines:
    """By ``sys.settrace``: works everywhere, slowly; a function whose lines all ran costs no more in a test."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.lines: Lines = set()
        self.left: dict[int, set[int]] = {}  # by id: equal code of two files is not the same
        self.kept: list[CodeType] = []  # while it lives nothing else has its id

    def start(self) -> None:
        self.lines, self.left, self.kept = set(), {}, []
        sys.settrace(self._line)

    def stop(self) -> Lines:
        sys.settrace(None)
        return self.lines

    def _line(self, frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        left = self.left.get(id(code))
        if left is None:
            inside = code.co_filename.startswith(self.folder)
            left = self.left[id(code)] = {line for *_, line in code.co_lines() if line} if inside else set()
            self.kept.append(code)
        if not left:
            return None
        left.discard(frame.f_lineno)
        self.lines.add((code.co_filename, frame.f_lineno))
        return self._line


class MonitoredLines:
    """By ``sys.monitoring`` (Python 3.12): a line costs something only the first time in a test."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.lines: Lines = set()
        monitoring = sys.monitoring
        monitoring.use_tool_id(monitoring.COVERAGE_ID, "mutants")
        monitoring.register_callback(monitoring.COVERAGE_ID, monitoring.events.LINE, self._line)

    def start(self) -> None:
        self.lines = set()
        sys.monitoring.restart_events()
        sys.monitoring.set_events(sys.monitoring.COVERAGE_ID, sys.monitoring.events.LINE)

    def stop(self) -> Lines:
        sys.monitoring.set_events(sys.monitoring.COVERAGE_ID, 0)
        return self.lines

    def _line(self, code: CodeType, line: int) -> Any:
        if code.co_filename.startswith(self.folder):
            self.lines.add((code.co_filename, line))
        return sys.monitoring.DISABLE


def line_recorder(folder: str) -> TracedLines | MonitoredLines:
    return MonitoredLines(folder) if sys.version_info >= (3, 12) else TracedLines(folder)
