"""The C++ compiles for processors with NEON, where a compiler for them is installed."""

import shutil
import subprocess

import pytest

from elman.cells import LSTM
from elman.formula.cpp_steps import print_steps
from elman.kernels.few_rows import few_rows_source
from elman.kernels.large_products import large_product_source
from elman.kernels.token_ranking import ranking_source
from elman.native.library import FOLDER, OPTIONS
from elman.native.step_program import step_program_source
from elman.scan.executors.cpu import source_of

COMPILER = shutil.which("aarch64-linux-gnu-g++")
SOURCES = [
    *(few_rows_source, large_product_source, step_program_source, ranking_source),
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
