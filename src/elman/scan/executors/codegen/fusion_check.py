"""May elementwise operations wait for each other here? Found out once a device, by trying it.

`kernel_fusion` rests on a part of torch that is not public, and hands out tensors before they are computed.
Where it does not give what the operations give one by one, they are run one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib.util import find_spec
from typing import Any

import torch

from elman.scan.executors.codegen.kernel_fusion import FusionMode, KernelProgram
from elman.shapes import Tensor


def fuse_kernels(fused: bool) -> AbstractContextManager[Any]:
    """Elementwise operations as kernels of several, where ``fused``."""
    if not fused:
        return nullcontext()
    from elman.scan.executors.codegen.triton_fusion import launch

    return FusionMode(launch)


def fusion_works(device: torch.device) -> bool:
    """Does a kernel of several operations compute what they compute? Needs Triton."""
    if find_spec("triton") is None:
        return False
    if torch.cuda.is_current_stream_capturing() and not _works_on.cache_info().currsize:
        return False  # nothing can be compared within a recording; a rehearsal asks before it
    return _works_on(device)


@cache
def _works_on(device: torch.device) -> bool:
    from elman.scan.executors.codegen.triton_fusion import launch

    return agrees(launch, device)


def agrees(kernel: Callable[[KernelProgram], None], device: torch.device) -> bool:
    """Does ``kernel`` compute a small example as torch does?"""
    a, b = (torch.linspace(-2, 2 * k, 64, device=device).view(4, 16) for k in (1, 2))
    expected = _example(a, b)
    try:
        with FusionMode(kernel):
            found = _example(a, b)
    except Exception:  # whatever became of it, the plain way is there
        return False
    return torch.allclose(found, expected, rtol=1e-4, atol=1e-4)


def _example(a: Tensor, b: Tensor) -> Tensor:
    """Products between elementwise operations, one of them in place, as in a step."""
    gates = torch.sigmoid(a) * b + torch.tanh(a - b)
    product = gates @ gates.t()
    return product.sigmoid_() @ (1 - gates)
