"""The weights of a model as text that stands in a page: planes of bytes, deflated, in base 85."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

from elman.errors import ModelError
from elman.shapes import Tensor

# Python's alphabet, but no < in it: in a page that could begin a tag.
_ALPHABET = str.maketrans("<", ".")


class WeightTable:
    """Tensors by number; one that several layers share is stored once. Integers are never rounded."""

    def __init__(self, *, half: bool = False) -> None:
        self.half = half
        self.tensors: list[Tensor] = []
        self.integers: list[Tensor] = []
        self._numbers: dict[tuple[int, tuple[int, ...]], int] = {}

    def add(self, tensor: Tensor) -> dict[str, int]:
        """How the page names a tensor."""
        key = (tensor.data_ptr(), tuple(tensor.shape))
        if key not in self._numbers:
            self._numbers[key] = len(self.tensors)
            self.tensors.append(tensor)
        return {"$tensor": self._numbers[key]}

    def add_integers(self, tensor: Tensor) -> dict[str, int]:
        """How the page names a tensor of 64-bit integers."""
        self.integers.append(tensor)
        return {"$integers": len(self.integers) - 1}

    def pack(self) -> dict[str, Any]:
        """All tensors as JSON: their shapes, and one text.

        Bytes of one significance stand side by side: those of the exponents are alike, and deflate well.
        """
        parts = [t.detach().cpu().float().contiguous().numpy().ravel() for t in self.tensors]
        numbers = np.concatenate(parts) if parts else np.zeros(0, np.float32)
        kind = "<f2" if self.half else "<f4"
        with np.errstate(over="ignore"):
            stored = numbers.astype(kind)
        if not np.isfinite(stored).all():
            raise ModelError("a weight is too large for 16 bits; leave out --half")
        # Integers in order have small differences.
        steps = [np.diff(t.cpu().numpy(), prepend=0).astype("<i8") for t in self.integers]
        planes = b"".join(
            array.view(np.uint8).reshape(-1, array.itemsize).T.tobytes() for array in (stored, *steps)
        )
        deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
        deflated = deflate.compress(planes) + deflate.flush()
        padded = deflated + bytes(-len(deflated) % 4)
        packed = base64.b85encode(padded).decode().translate(_ALPHABET)
        shapes = [list(t.shape) for t in self.tensors]
        stored_as = {"bytes": len(deflated), "half": self.half, "packed": packed}
        return {"shapes": shapes, "integers": [len(t) for t in self.integers], **stored_as}
