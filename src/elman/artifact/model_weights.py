"""The weights of a model folder: read, and checked to be those of its network before they are taken."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from elman.errors import ModelError
from elman.files.utf8_paths import utf8_path
from elman.number_format import format_number

LARGEST = 1e15  # products and sums of larger ones leave float32
PRECISIONS = ("float32", "bfloat16")


def read_weights(path: Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file by name."""
    if not path.is_file():  # to open a pipe would wait for its other end
        raise ModelError(f"{path} cannot be read: there is no such file")
    try:
        with utf8_path(path) as named:
            return load_file(named)
    except (OSError, SafetensorError) as error:
        raise ModelError(f"{path} cannot be read: {error}") from None


def check_weights(weights: Mapping[str, Tensor], net: nn.Module, path: Path) -> None:
    """Refuse weights of another type than the network's, which would be rounded, and NaN and infinity."""
    for name, own in net.state_dict().items():
        given = weights.get(name)
        if given is not None and given.dtype != own.dtype:
            raise ModelError(f"{path}: {name} is {_type(given)}, expected {_type(own)}")
    check_numbers(weights, path)


def check_numbers(weights: Mapping[str, Tensor], path: Path) -> None:
    """Refuse weights that no folder should hold: of another precision, or of a training that diverged."""
    for name, weight in weights.items():
        if weight.is_floating_point() and weight.numel():
            if weight.dtype != torch.float32:
                raise ModelError(f"{path}: {name} is {_type(weight)}, expected float32; call model.net.float()")
            low, high = torch.aminmax(weight)  # one pass without a copy; NaN comes out as NaN
            if not (low >= -LARGEST and high <= LARGEST):
                found = f"holds NaN, infinity or a number beyond {format_number(LARGEST)}"
                raise ModelError(f"{path}: {name} {found}; train again, with a smaller --lr")


@torch.no_grad()
def round_weights(net: nn.Module) -> None:
    """Round matrices to the nearest bfloat16, which float32 holds as it is; biases stay as they are."""
    for weight in net.parameters():
        if weight.dim() > 1:
            weight.copy_(weight.bfloat16())


def _type(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")
