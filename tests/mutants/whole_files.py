"""Which test files are likely to notice a mutant, by what is written in them: where nothing was recorded."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.mutants.coverage_map import TestTime
from tests.mutants.imports import imported_files
from tests.mutants.mutant import Mutant


class WholeFiles(NamedTuple):
    """Takes the place of a coverage map."""

    root: Path
    files: list[str]
    most: int

    def tests_of(self, mutant: Mutant, patience: float) -> list[TestTime]:
        """Test files that have the name of the module, name its parts, import it or mirror its package."""
        scores = {file: self._score(file, mutant) for file in self.files}
        ranked = sorted((file for file in self.files if scores[file]), key=lambda file: (-scores[file], file))
        return [TestTime(file, patience / self.most) for file in ranked[: self.most]]

    def _score(self, file: str, mutant: Mutant) -> int:
        words, stem, other = _words(self.root / file), _stem(file), _stem(mutant.path)
        scope = set(re.findall(r"[a-zA-Z]\w+", mutant.key.split(": ")[0].partition(" ")[2]))
        alike = 8 * (stem in (other, Path(mutant.path).parent.name)) + 4 * (stem in other or other in stem)
        named = 4 * len(scope & words) + 2 * len(_public_names(self.root / mutant.path) & words)
        imported = 3 * (mutant.path in _imports(self.root, self.root / file))
        return alike + named + imported + len({*Path(file).parts[1:-1]} & {*Path(mutant.path).parts[2:-1]})


@cache
def _words(file: Path) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", file.read_text()))


@cache
def _imports(root: Path, file: Path) -> frozenset[str]:
    return frozenset(imported_files(root, file))


@cache
def _public_names(module: Path) -> frozenset[str]:
    """The functions and classes of a module that tests can name."""
    parts = ast.parse(module.read_bytes()).body
    names = {part.name for part in parts if isinstance(part, ast.FunctionDef | ast.ClassDef)}
    return frozenset(name for name in names if not name.startswith("_"))


def _stem(path: str) -> str:
    return Path(path).stem.removeprefix("test_")
