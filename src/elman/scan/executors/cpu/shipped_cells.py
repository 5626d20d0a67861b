"""The libraries of Elman's own cells, built into the package: whoever installs it then needs no compiler."""

from __future__ import annotations

import platform
from collections.abc import Iterator

from elman.cells import CELLS, Formulaic, ResetAfterGRU
from elman.formula.cpp_steps import print_steps
from elman.native.library import FOLDER, SHIPPED, build_library
from elman.native.processor import LEVELS
from elman.scan.executors.cpu import source_of
from elman.scan.executors.parallel import unsupported_reason
from elman.scan.executors.parallel.native_units import find_native_units


def shipped_sources() -> Iterator[str]:
    """The C++ that lies in files, and that of each cell that a configuration can name."""
    yield from (path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.cpp")))
    cells = [make(3, 4) for make in CELLS.values()]
    for cell in (*cells, ResetAfterGRU(3, 4, bias=False)):
        if isinstance(cell, Formulaic):
            yield source_of(cell).text
            yield print_steps(cell.formula, cell.widths)
            if unsupported_reason(cell) is None:
                yield find_native_units(cell.formula).source.text


def build_shipped() -> int:
    """Compile them for every level of this kind of processor; how many libraries there are then."""
    levels = LEVELS if platform.machine().lower() in ("x86_64", "amd64") else ("plain",)
    for source in shipped_sources():
        for level in levels:
            build_library(source, level, SHIPPED)
    return len([*SHIPPED.glob("*.so")])
