"""Out of memory is one sentence, whoever says it; other errors are left alone."""

import errno
import weakref

import numpy as np
import pytest
import torch

from elman.errors import ModelError
from elman.memory_errors import describe_shortage, refuse_shortage


def allocate_tensor() -> None:
    torch.empty(1 << 56, dtype=torch.uint8)


def allocate_array() -> None:
    np.empty(1 << 56, dtype=np.uint8)


def allocate_bytes() -> None:
    bytearray(1 << 60)


@pytest.mark.parametrize(
    ("allocate", "said"),
    [
        (allocate_tensor, "out of memory (72,057.6 TB more were needed)"),
        (allocate_array, "out of memory"),
        (allocate_bytes, "out of memory"),
    ],
)
def test_what_is_asked_for_and_not_there_is_said(allocate, said):
    with pytest.raises((MemoryError, RuntimeError)) as error:
        allocate()
    assert describe_shortage(error.value) == said
    with pytest.raises(ModelError) as refused, refuse_shortage("at update 3"):
        allocate()
    assert str(refused.value) == f"{said} at update 3; a smaller --batch or --hidden takes less"


def test_a_gpu_and_the_system_are_heard_too():
    cuda = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total")
    assert describe_shortage(cuda) == "out of memory on the GPU (20.00 MiB more were needed)"
    assert (
        describe_shortage(RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED")) == "out of memory on the GPU"
    )
    assert describe_shortage(OSError(errno.ENOMEM, "Cannot allocate memory")) == "out of memory"


@pytest.mark.parametrize(
    "error", [RuntimeError("shapes differ"), OSError(errno.ENOSPC, "full"), KeyError("out of memory")]
)
def test_other_errors_stay_what_they_are(error):
    assert describe_shortage(error) is None
    with pytest.raises(type(error)) as raised, refuse_shortage("here"):
        raise error
    assert raised.value is error


def test_what_the_failed_work_held_is_let_go():
    held = []

    def work() -> None:
        array = np.zeros(3)
        held.append(weakref.ref(array))
        allocate_bytes()

    with pytest.raises(ModelError) as refused, refuse_shortage("here"):
        work()
    assert isinstance(refused.value.__context__, MemoryError), "which leads to the frames of the work"
    assert held[0]() is None
