"""Which tensors the C++ of a CPU may read where they lie."""

from __future__ import annotations

import torch

from elman.second_derivatives import needs_plain_form
from elman.shapes import Tensor


def is_plain(*tensors: Tensor) -> bool:
    """Are they float32 in the memory of a CPU, of which nobody watches the single operations?"""
    return (
        all(type(t) in (Tensor, torch.nn.Parameter) and t.dtype == torch.float32 and t.is_cpu for t in tensors)
        and not torch.is_autocast_enabled("cpu")
        and not torch.compiler.is_compiling()
        and not needs_plain_form()
    )
