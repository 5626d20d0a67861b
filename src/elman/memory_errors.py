"""Out of memory, as PyTorch, NumPy, CUDA and the system say it, in one sentence."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from traceback import clear_frames

from elman.errors import ModelError
from elman.number_format import format_size

REMEDY = "a smaller --batch or --hidden takes less"

# Of a RuntimeError: the words of PyTorch's CPU allocator, CUDA, cuDNN, cuBLAS, oneDNN.
_SAID = re.compile(r"can(no|')t allocate memory|(out of|not enough) memory|ALLOC_FAILED|bad_alloc", re.I)
_ASKED = re.compile(r"tried to allocate ([\d.]+ ?\w+)", re.I)


def describe_shortage(error: BaseException) -> str | None:
    """What an error says of memory that is used up; None where it says something else."""
    text = str(error)
    if isinstance(error, OSError):
        known = error.errno == errno.ENOMEM
    else:
        known = isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and bool(_SAID.search(text)))
    if not known:
        return None
    where = " on the GPU" if re.search("CUDA|CUDNN|CUBLAS", text) else ""
    asked = _ASKED.search(text)
    size = asked[1] if asked else ""
    if size.endswith("bytes"):
        size = format_size(int(size.split()[0]))
    return f"out of memory{where}" + (f" ({size} more were needed)" if size else "")


@contextmanager
def refuse_shortage(place: str) -> Iterator[None]:
    """Within it a lack of memory is a ModelError that says where; what the failed work held is let go."""
    try:
        yield
    except (MemoryError, RuntimeError, OSError) as error:
        said = describe_shortage(error)
        if said is None:
            raise
        clear_frames(error.__traceback__)
        raise ModelError(f"{said} {place}; {REMEDY}") from None
