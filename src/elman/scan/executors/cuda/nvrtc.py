"""CUDA C++ compiled where it runs, by NVRTC, which comes with PyTorch: no nvcc, no build of an extension.

A kernel is known by the SHA-256 of all that it is made of, and lies in the folder of caches from then on.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from elman.errors import ElmanError, shorten
from elman.native.library import find_cache

OPTIONS = ("--std=c++17", "-default-device")
_NAMES = ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so")


class CudaError(ElmanError):
    """There is no kernel, and none can be made here."""


def compile_kernel(source: str, architecture: str) -> bytes:
    """The machine code of a source for a processor such as ``sm_90a``, from the cache if it was made before."""
    path = find_cache().with_name("cuda") / f"{_name_kernel(source, architecture)}.cubin"
    if path.is_file():
        return path.read_bytes()
    code = _compile(source, architecture)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(code)
        os.replace(file.name, path)  # whole or not at all: another process may write the same
    except OSError as error:
        raise CudaError(f"no kernel can be kept in {path.parent}: {shorten(str(error))}") from None
    return code


def _name_kernel(source: str, architecture: str) -> str:
    parts = [source, architecture, *OPTIONS, str(_version())]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _compile(source: str, architecture: str) -> bytes:
    library, program = load_nvrtc(), ctypes.c_void_p()
    _check(library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None))
    options = [f"--gpu-architecture={architecture}".encode(), *(option.encode() for option in OPTIONS)]
    try:
        failed = library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
        if failed:
            said = _read(program, library.nvrtcGetProgramLogSize, library.nvrtcGetProgramLog).decode()
            first = next((line for line in said.splitlines() if "error" in line), said)
            raise CudaError(f"NVRTC refused a kernel for {architecture}: {shorten(first)}")
        return _read(program, library.nvrtcGetCUBINSize, library.nvrtcGetCUBIN)
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _read(
    program: ctypes.c_void_p, measure: ctypes._NamedFuncPointer, fetch: ctypes._NamedFuncPointer
) -> bytes:
    size = ctypes.c_size_t()
    _check(measure(program, ctypes.byref(size)))
    text = ctypes.create_string_buffer(size.value)
    _check(fetch(program, text))
    return text.raw


def _check(code: int) -> None:
    if code:
        raise CudaError(f"NVRTC failed with error {code}")


@cache
def _version() -> tuple[int, int]:
    major, minor = ctypes.c_int(), ctypes.c_int()
    _check(load_nvrtc().nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
    return major.value, minor.value


@cache
def load_nvrtc() -> ctypes.CDLL:
    """NVRTC as PyTorch or the package nvidia-cuda-nvrtc brings it, or as the system has it."""
    for name in _candidates():
        try:
            for part in Path(name).parent.glob("libnvrtc-builtins.so*"):  # it looks for it by name only
                ctypes.CDLL(str(part))
            return ctypes.CDLL(name)
        except OSError:
            continue  # the next place may have it
    raise CudaError("there is no NVRTC here: pip install nvidia-cuda-nvrtc")


def _candidates() -> Iterator[str]:
    for folder in dict.fromkeys(filter(None, sys.path)):
        for pattern in ("nvidia/*/lib", "torch/lib"):
            yield from map(str, sorted(Path(folder).glob(f"{pattern}/libnvrtc.so*")))
    yield from _NAMES
    yield from (str(Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "lib64" / name) for name in _NAMES)
