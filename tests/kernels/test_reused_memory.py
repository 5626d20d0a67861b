"""A buffer is used again once nobody refers to it, and never sooner."""

import ctypes
import subprocess
import sys

import pytest
import torch

from elman.kernels import reused_memory
from elman.kernels.reused_memory import reuse_empty

SHAPE = (700, 1000)


def test_memory_is_used_again_only_after_the_last_view_of_it_is_gone():
    one = reuse_empty(*SHAPE)
    where = one.data_ptr()
    assert (one.shape, one.dtype, one.is_contiguous()) == (SHAPE, torch.float32, True)
    row = one[3]
    del one
    assert reuse_empty(*SHAPE).data_ptr() != where
    del row
    assert where in {t.data_ptr() for t in [reuse_empty(*SHAPE) for _ in range(2)]}


def test_what_autograd_keeps_is_not_used_by_another():
    x = torch.ones(SHAPE, requires_grad=True)
    held = reuse_empty(*SHAPE).fill_(3.0)
    loss = (x * held).sum()
    del held
    other = reuse_empty(*SHAPE).fill_(5.0)
    loss.backward()
    assert x.grad.eq(3).all()
    assert other.eq(5).all()


def test_no_more_than_so_much_waits(monkeypatch):
    monkeypatch.setattr(reused_memory, "_waiting", reused_memory._Waiting())
    monkeypatch.setattr(reused_memory, "_MOST_WAITING", 3 * 2**21)
    given = [reuse_empty(2**19) for _ in range(5)]  # a page each
    del given
    assert len(reused_memory._waiting.buffers) == 3


def test_small_tensors_are_torch_s_own(monkeypatch):
    monkeypatch.setattr(reused_memory, "_map_memory", None)
    assert reuse_empty(10, 20).shape == (10, 20)
    assert reuse_empty(0, 20).shape == (0, 20)


COUNT_FAULTS = """
import resource, torch
from elman.kernels.reused_memory import keep_freed_memory
{call}
torch.set_num_threads(1)
faults = []
for _ in range(12):
    torch.empty(15_000_000).fill_(1)  # 60 MB: glibc maps and unmaps it
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)
print(faults[-1] - faults[-2])
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="another C library than glibc")
def test_a_process_of_our_own_keeps_what_it_frees():
    def count(call):
        command = [sys.executable, "-c", COUNT_FAULTS.format(call=call)]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    assert count("keep_freed_memory()") < 100 < count("")
