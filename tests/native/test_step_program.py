"""Programs of instructions that C++ runs: what comes of one that cannot be run."""

import re

import pytest

from elman.native.library import FOLDER, why_not_loaded
from elman.native.step_program import Outdated, ProgramBuilder

ERRORS = {"NO_MEMORY": MemoryError, "UNKNOWN_TOKEN": IndexError, "CHANGED": Outdated}


@pytest.mark.skipif(why_not_loaded("step_program.cpp") is not None, reason="needs the library")
@pytest.mark.parametrize("name", ERRORS)
def test_an_outcome_that_the_library_names_is_the_error_of_that_kind(name, monkeypatch):
    (names,) = re.findall(r"enum Outcome \{ (.*) \}", (FOLDER / "step_program.cpp").read_text())
    builder = ProgramBuilder([1, 1])
    builder.sum(0, 1)
    program = builder.finish()
    monkeypatch.setattr(program, "_run", lambda *_: names.split(", ").index(name))
    with pytest.raises(ERRORS[name]):
        program(1, [0, 0], None, 1, 0)
