"""Devices by name, those that this machine has."""

from __future__ import annotations

import torch

from elman.errors import ConfigError


def choose_device(name: str) -> str:
    """The device that a name means: of ``auto`` a GPU where PyTorch finds one, else the CPU."""
    if name != "auto":
        return name
    return "cuda" if torch.cuda.is_available() else "cpu"


def describe_choice(device: str) -> str:
    """What to say where ``auto`` chose this device; nothing of the CPU."""
    return f"computes on the GPU ({torch.cuda.get_device_name(device)})" if device == "cuda" else ""


def find_device(name: str | torch.device) -> torch.device:
    """The device of that name; an error where there is none here."""
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError):
        raise ConfigError(f"unknown device {name!r}; it may be 'auto', 'cpu', 'cuda' or 'cuda:1'") from None
    if device.type == "meta":
        raise ConfigError("the device 'meta' computes nothing; say 'cpu' or 'cuda'")
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError):  # torch has no one kind of error for it
        count = torch.cuda.device_count()
        found = f"{count} GPU{'s' if count > 1 else ''}" if count else "no GPU"
        raise ConfigError(f"device {str(device)!r}: PyTorch finds {found} here; say device='cpu'") from None
    return device
