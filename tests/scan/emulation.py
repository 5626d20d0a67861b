"""CUDA kernels run by the host: compiled as C++, a thread of the system for each thread of a block."""

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path

import torch

from elman.native.library import find_compiler

_BEGIN = """
#include <pthread.h>
struct Place { int x; };
static thread_local Place threadIdx, blockIdx;
static pthread_barrier_t barrier;
#define __global__
#define __shared__ static
#define __launch_bounds__(n)
#define __syncthreads() pthread_barrier_wait(&barrier)
"""
_END = """
struct Thread { int number, grid; void** given; };
static void* take_blocks(void* some) {
  Thread* self = (Thread*)some;
  threadIdx.x = self->number;
  for (blockIdx.x = 0; blockIdx.x < self->grid; blockIdx.x++) {
    CALL;
    __syncthreads();
  }
  return 0;
}
extern "C" void run_kernel(int grid, int block, void** given) {
  pthread_t threads[1024];
  Thread each[1024];
  pthread_barrier_init(&barrier, 0, block);
  for (int i = 0; i < block; i++) {
    each[i] = {i, grid, given};
    pthread_create(&threads[i], 0, take_blocks, &each[i]);
  }
  for (int i = 0; i < block; i++) pthread_join(threads[i], 0);
}
"""


class HostKernel:
    """As `elman.scan.executors.cuda.launch.Kernel`, for tensors of float32 on the CPU."""

    def __init__(self, source: str, name: str, folder: Path) -> None:
        takes = source.split(f" {name}(")[1].split(")")[0].split(", ")
        kinds = [words.rpartition(" ")[0] for words in takes]
        given = (
            f"*(int*)self->given[{i}]" if kind == "int" else f"({kind})self->given[{i}]"
            for i, kind in enumerate(kinds)
        )
        text = _BEGIN + source + _END.replace("CALL", f"{name}({', '.join(given)})")
        path = folder / f"{abs(hash(source))}.cpp"
        path.write_text(text)
        flags = ["-shared", "-fPIC", "-pthread", "-O1", "-Wno-unknown-pragmas"]
        subprocess.run([find_compiler(), *flags, str(path), "-o", f"{path}.so"], check=True)
        self.library = ctypes.CDLL(f"{path}.so")

    def launch(self, grid: int, block: int, arguments: Sequence[torch.Tensor | int | None]) -> None:
        numbers = [ctypes.c_int(a) if isinstance(a, int) else None for a in arguments]
        pointers = [
            ctypes.addressof(number) if number is not None else None if a is None else a.data_ptr()
            for number, a in zip(numbers, arguments, strict=True)
        ]
        self.library.run_kernel(grid, block, (ctypes.c_void_p * len(pointers))(*pointers))
