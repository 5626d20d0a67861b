"""Which tensors the C++ of a CPU may read where they lie."""

from __future__ import annotations

import torch

from elman.second_derivatives import needs_plain_form
from elman.shapes import Tensor

_KINDS = (Tensor, torch.nn.Parameter)


def is_plain(*tensors: Tensor) -> bool:
    """Are they float32 in the memory of a CPU, of which nobody watches the single operations?"""
    for t in tensors:  # asked many times an update
        if type(t) not in _KINDS or t.dtype != torch.float32 or not t.is_cpu:
            return False
    watched = torch.is_autocast_enabled("cpu") or torch.compiler.is_compiling() or needs_plain_form()
    return not watched
