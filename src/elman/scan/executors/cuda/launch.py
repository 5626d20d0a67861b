"""Kernels of our own on PyTorch's streams, by CUDA's driver interface."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from contextlib import nullcontext
from functools import cache
from threading import local

import torch

from elman.scan.executors.cuda.nvrtc import CudaError, compile_kernel
from elman.shapes import Tensor

_SHARED_LIMIT, _LARGE_CLUSTERS = 8, 14  # attributes of a function, by the numbers of cuda.h
_PORTABLE_CLUSTER = 8  # blocks: larger clusters are to be asked for


_thread = local()  # what each thread has entered


class Kernel:
    """A function of a compiled source, on one device."""

    def __init__(self, source: str, name: str, device: torch.device, shared: int, cluster: int) -> None:
        self.device, self.shared = device, shared
        self._library = load_driver()
        code = compile_kernel(source, find_architecture(device))
        torch.cuda.current_stream(device)  # PyTorch must have begun
        module, self._function, self._context = (ctypes.c_void_p() for _ in range(3))
        with torch.cuda.device(device):
            number = ctypes.c_int()
            self._check("cuDeviceGet", ctypes.byref(number), device.index)
            self._check("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), number)
            self._check("cuCtxSetCurrent", self._context)
            self._check("cuModuleLoadData", ctypes.byref(module), code)
            self._check("cuModuleGetFunction", ctypes.byref(self._function), module, name.encode())
            self._check("cuFuncSetAttribute", self._function, _SHARED_LIMIT, shared)
            if cluster > _PORTABLE_CLUSTER:
                self._check("cuFuncSetAttribute", self._function, _LARGE_CLUSTERS, 1)

    def launch(
        self, grid: int, block: int, arguments: Sequence[Tensor | int | None], *, cooperative: bool = False
    ) -> None:
        """Run it on the current stream; ``cooperative``: all blocks at once, or not at all."""
        # Eight bytes for each: a kernel reads the first four of them where it takes an int.
        numbers = [0 if a is None else a if type(a) is int else a.data_ptr() for a in arguments]  # type: ignore[union-attr]
        values = (ctypes.c_uint64 * len(numbers))(*numbers)
        first = ctypes.addressof(values)
        pointers = (ctypes.c_void_p * len(numbers))(*range(first, first + 8 * len(numbers), 8))
        stream = ctypes.c_void_p(torch.cuda.current_stream(self.device).cuda_stream)
        shape = (grid, 1, 1, block, 1, 1, self.shared, stream, pointers)
        with nullcontext() if _has_one_device() else torch.cuda.device(self.device):
            self._enter_context()
            if cooperative:
                self._check("cuLaunchCooperativeKernel", self._function, *shape)
            else:
                self._check("cuLaunchKernel", self._function, *shape, None)

    def _enter_context(self) -> None:
        """A thread of autograd that has launched nothing yet has no context."""
        if getattr(_thread, "context", None) != self._context.value or not _has_one_device():
            self._check("cuCtxSetCurrent", self._context)
            _thread.context = self._context.value

    def _check(self, name: str, *arguments: object) -> None:
        code = getattr(self._library, name)(*arguments)
        if code:
            raise CudaError(f"{name} failed: {_describe(code)}")


@cache
def load_kernel(source: str, name: str, device: torch.device, *, shared: int = 0, cluster: int = 1) -> Kernel:
    """The function of that name, compiled if it must be. ``shared``: bytes of memory that a block asks for."""
    return Kernel(source, name, device, shared, cluster)


@cache
def find_architecture(device: torch.device) -> str:
    """The processor as NVRTC names it, with the instructions that are only its own."""
    major, minor = torch.cuda.get_device_capability(device)
    return f"sm_{major}{minor}" + "a" * (major >= 9)


@cache
def _has_one_device() -> bool:
    return torch.cuda.device_count() == 1


@cache
def load_driver() -> ctypes.CDLL:
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError:
        raise CudaError("there is no CUDA driver here") from None


def _describe(code: int) -> str:
    text = ctypes.c_char_p()
    load_driver().cuGetErrorString(code, ctypes.byref(text))
    return text.value.decode() if text.value else f"error {code}"
