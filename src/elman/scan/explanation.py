"""Which executor would run each part of a cell, and why not a faster one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from elman.cells import Cell, Formulaic
from elman.formula.structure import find_structure
from elman.scan.execution import ELSEWHERE, Execution, Executor
from elman.scan.executors import EXECUTORS, Scanner, rank_executors, require_known
from elman.shapes import Bool, Float, Tensor


@dataclass(frozen=True)
class Choice:
    """A cell without parts, who runs it, and why each faster executor does not."""

    cell: str
    executor: str
    reasons: dict[str, str] = field(default_factory=dict)
    structure: str = ""  # the class of its recurrence, and why it is of that class

    def __str__(self) -> str:
        said = [self.structure] if self.structure else []
        said += [
            f"not {name}: {reason}" for name, reason in self.reasons.items() if reason not in self.structure
        ]
        why = "; ".join(said)
        return f"{self.cell}: {self.executor}" + (f" ({why})" if why else "")


@dataclass(frozen=True)
class Explanation:
    """What ``scan`` would do: a choice for each part of the cell, in the order in which they run."""

    choices: tuple[Choice, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.choices))


def explain(
    cell: Cell[Any],
    xs: Float[Tensor, "B T D"],
    mask: Bool[Tensor, "B T"] | None = None,
    *,
    reverse: bool = False,
    executor: str = "auto",
) -> Explanation:
    """What `scan` of the same arguments would run here and now; nothing is computed."""
    require_known(executor)
    execution = Execution.begin(xs, mask, reverse=reverse, executor=executor)
    choices: list[Choice] = []

    def note(executor: Executor, cell: Cell[Any], xs: Tensor, state: Any) -> tuple[Tensor, Any]:
        chosen = execution.executor == "auto" and executor.name in EXECUTORS
        ranked = rank_executors(cell, execution) if chosen else []
        reasons = {one.name: reason for one, reason in ranked if reason not in (None, ELSEWHERE)}
        formula = cell.formula if isinstance(cell, Formulaic) else None
        name = type(cell).__name__ if formula is None else formula.name
        structure = "" if formula is None else str(find_structure(formula))
        about = f"{name} {cell.input_size} -> {cell.output_size}"
        choices.append(Choice(about, executor.name, reasons, structure))
        return xs.new_zeros(*xs.shape[:2], cell.output_size), state

    with torch.random.fork_rng():  # masks are drawn as for a run, and no later draw may notice
        drawn = cell.sample_masks(xs)
    Scanner(execution, note)(drawn, xs, drawn.initial(xs))
    return Explanation(tuple(choices))
