"""Which precision a computation of our own has, so that autocast is to it as to PyTorch's."""

from __future__ import annotations

import torch

from elman.shapes import Tensor


def precision(like: Tensor) -> torch.dtype:
    """That of autocast where it is on, else that of the tensor."""
    device = like.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else like.dtype
