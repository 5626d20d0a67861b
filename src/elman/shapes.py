"""Shapes in signatures: ``Float[Tensor, "B T D"]``. The letters are listed in docs/notation.md.

The test run checks them at every call (jaxtyping with beartype). Where jaxtyping is not installed
they are read by people only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int
else:
    try:
        from jaxtyping import Bool, Float, Int
    except ImportError:

        class _Unchecked:
            def __class_getitem__(cls, item: tuple[Any, str]) -> Any:
                return item[0]

        Bool = Float = Int = _Unchecked

__all__ = ["Bool", "Float", "Int", "Tensor"]
