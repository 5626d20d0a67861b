"""Stored formulas that strangers write: refused, or computed like any other, and nothing is executed."""

from __future__ import annotations

import json
import shutil
import sys
from copy import deepcopy
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import torch

import elman
from elman.artifact.model_bytes import model_to_files
from elman.artifact.model_digests import with_digests
from elman.cells import CELLS, FormulaCell, Formulaic, resolve_cell
from elman.formula import equations
from elman.formula.formula_data import formula_to_data
from elman.formula.operation import OPS
from elman.formula.stored_formula import read_formula
from elman.scan import scan
from elman.state import leaves
from tests.campaign.fuzz_folders import VALUES, places
from tests.campaign.harness import Target, main
from tests.own_cells import MGU
from tests.tasks import topics

WORDS = [*OPS, "x", "s", "p", "m", "U", "number", "eval", "__import__", "h", "f", "names", "index", "os:system"]


@cache
def formulas() -> tuple[dict[str, Any], ...]:
    """Those of Elman's cells, as data."""
    made = (make(3, 4) for make in CELLS.values())
    return tuple(formula_to_data(cell.formula) for cell in made if isinstance(cell, Formulaic))


def edit(rng: Random, data: Any) -> None:
    """Another word, number or thing in one place."""
    where, key = rng.choice([*places(data)])
    numbers = [rng.randrange(-2, 40), rng.uniform(-9, 9), float("nan"), 10**400]
    where[key] = deepcopy(rng.choice([rng.choice(WORDS), rng.choice(numbers), rng.choice(VALUES)]))


def vary(rng: Random, values: list[list[Any]]) -> None:
    """Another operation, or another operand, of one value: most such formulas can be computed."""
    number = rng.choice([i for i, line in enumerate(values) if line[0] in OPS])
    place = rng.randrange(len(values[number]))
    alike = [op for op in OPS.values() if op.arity == OPS[values[number][0]].arity]
    values[number][place] = rng.randrange(number) if place else rng.choice(alike).name


def strange_formulas(rng: Random) -> None:
    """What is read can be typeset, and its generated code computes what the formula itself does."""
    data = deepcopy(rng.choice(formulas()))
    change = rng.random()
    for _ in range(rng.choice((1, 1, 2, 5))):
        edit(rng, data) if change < 0.4 else vary(rng, data["values"])
    if change > 0.9:
        values = data["values"]
        for _ in range(rng.randrange(120)):
            values.append([rng.choice(WORDS), len(values) - 1, rng.randrange(len(values))])
    read = read_formula(data)
    assert equations(read)
    torch.manual_seed(0)
    cell, xs = FormulaCell(read, 2, 3).double(), torch.randn(1, 2, 2, dtype=torch.float64)
    for steps in (1, 2):
        (fast, _), (plain, end) = (scan(cell, xs[:, :steps], executor=name) for name in ("codegen", "loop"))
        torch.testing.assert_close(fast, plain, rtol=1e-4, atol=1e-6, equal_nan=True)
        if not all(part.isfinite().all() for _, part in leaves(end)):
            return


@cache
def own_model() -> dict[str, bytes]:
    torch.manual_seed(0)
    return model_to_files(topics.fresh(cell=resolve_cell(MGU)))


def strange_cells(rng: Random) -> None:
    """A folder whose cell says anything, signed by whoever wrote it, is refused or answers; no import."""
    shutil.rmtree("own", ignore_errors=True)
    Path("own").mkdir()
    for name, content in own_model().items():
        Path("own", name).write_bytes(content)
    Path("bait.py").write_text("raise SystemExit('imported')")
    cell = json.loads(Path("own", "cell.json").read_text())
    config = json.loads(Path("own", "config.json").read_text())
    if rng.random() < 0.2:
        config["model"]["cell"] = deepcopy(
            rng.choice(["bait:x", "bait.py:x", "lstm", "own/cell.json", *VALUES])
        )
    else:
        edit(rng, cell)
    if rng.random() < 0.1:
        cell["code"] = deepcopy(rng.choice(["bait.py:x", "bait:x", *VALUES]))
    Path("own", "cell.json").write_text(json.dumps(cell))
    if rng.random() < 0.1:
        Path("own", "cell.json").unlink()
    Path("own", "config.json").write_text(json.dumps(with_digests(config, Path("own"))))
    try:
        elman.load("own", elman.Classifier).classify(["when is the city"])
    finally:
        assert not any("bait" in name for name in sys.modules)


TARGETS: dict[str, Target] = {"strange_formulas": strange_formulas, "strange_cells": strange_cells}

if __name__ == "__main__":
    main(TARGETS)
