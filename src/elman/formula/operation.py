"""What is known of an operation: how it is computed, differentiated and written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from elman.formula.symbols import FUNCTIONS, TORCH_ARITY, Node, operate
from elman.shapes import Tensor

OPS: dict[str, Op] = {}


@dataclass(frozen=True, eq=False)
class Op:
    """One operation. ``tensor`` computes it; ``slope(g, y, *operands)`` gives the gradients of its operands
    from the gradient g of its result y. Without ``slope`` it occurs in derivatives only.

    Templates name the operands ``{0}``, ``{1}``. ``torch`` is source code, ``scalar`` the same where a number
    stands where torch wants a tensor. Without ``c`` an operation is not pointwise; without ``triton`` it is not
    fused with others. ``lanes`` is C++ on vectors: a function of native/lanes.hpp, or an operator. Where
    ``text`` begins with an operand, sums and products in it are put in brackets.

    Traits: an ``activation`` makes the value of a gate; ``kept`` says that the backward pass reads the value
    instead of computing it again; a ``reduction`` runs over the units, and is linear and symmetric; torch is as
    fast ``inplace`` on a column of a wider matrix as elsewhere, or (MKL) once the column is ``copied`` out.
    """

    name: str
    tensor: Callable[..., Tensor]
    slope: Callable[..., Any] | None
    c: str = ""
    triton: str = ""
    text: str = "{name}({0})"
    latex: str = r"\{name}({0})"
    torch: str = "torch.{name}({0})"
    scalar: str = ""
    traits: str = ""
    lanes: str = ""

    def __post_init__(self) -> None:
        OPS[self.name] = FUNCTIONS[self.name] = self
        for column in ("text", "latex", "torch"):
            template: str = getattr(self, column).replace("{name}", self.name)
            object.__setattr__(self, column, template)
        if self.c and not self.lanes:
            operands = ", ".join(f"{{{i}}}" for i in range(self.arity))
            object.__setattr__(self, "lanes", f"{self.name}_lanes({operands})")
        if self.slope is not None and self.c:
            TORCH_ARITY[self.name] = self.arity

    @property
    def arity(self) -> int:
        """How many operands it takes."""
        return 2 if "{1}" in self.torch else 1

    def has(self, trait: str) -> bool:
        return trait in self.traits.split()

    def gradients(self, g: Node, y: Node) -> tuple[Any, ...]:
        """Of the operands of ``y``, from its gradient."""
        assert self.slope is not None, f"{self.name} occurs in derivatives only"
        slopes = self.slope(g, y, *y.operands)
        return slopes if isinstance(slopes, tuple) else (slopes,)

    def __call__(self, a: Any, *more: Any) -> Any:
        """Computed of tensors and numbers, written down of symbols."""
        if not more and isinstance(a, Tensor):
            return self.tensor(a)
        if any(isinstance(b, Node) for b in (a, *more)):
            return operate(self.name, a, *more)
        if any(isinstance(b, Tensor) for b in (a, *more)):
            return self.tensor(a, *more)
        numbers = (torch.tensor(float(b), dtype=torch.float64) for b in (a, *more))
        return self.tensor(*numbers).item()
