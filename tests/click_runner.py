"""Commands run in the process of the tests."""

from inspect import signature
from typing import Any

from click.testing import CliRunner


def make_runner() -> CliRunner:
    """One that keeps standard output and standard error apart: before 8.2, click must be asked to."""
    asked: dict[str, Any] = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
    return CliRunner(**asked)
