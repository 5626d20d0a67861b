"""The C++ compiles for processors with NEON, where a compiler for them is installed."""

import shutil
import subprocess

import pytest

from elman.cells import LSTM
from elman.formula.cpp_steps import print_steps
from elman.native.library import FOLDER, OPTIONS
from elman.scan.executors.cpu import source_of

COMPILER = shutil.which("aarch64-linux-gnu-g++")
SOURCES = [
    *((FOLDER / f"{name}.cpp").read_text for name in ("few_rows", "large_product", "step_program", "ranking")),
    lambda: source_of(LSTM(3, 4)).text,
    lambda: print_steps(LSTM.formula, LSTM(3, 4).widths),
]


@pytest.mark.skipif(COMPILER is None, reason="there is no compiler for aarch64")
@pytest.mark.parametrize("find", SOURCES)
def test_a_library_for_neon_is_built_and_multiplies_vectors(find, tmp_path):
    source, library = tmp_path / "source.cpp", tmp_path / "library.s"
    source.write_text(find())
    subprocess.run([COMPILER, *OPTIONS, "-S", f"-I{FOLDER}", source, "-o", library], check=True)
    assert "fmla\tv" in library.read_text()
