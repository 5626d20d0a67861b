"""The threads of the host program, by the address of the function that runs something on them."""

import ctypes
from types import SimpleNamespace

from elman.native.host_threads import find_parallel


def test_the_address_is_that_of_what_the_program_has_loaded_or_zero(monkeypatch):
    Function = ctypes.CFUNCTYPE(None)
    parallel = Function(lambda: None)
    address = ctypes.cast(parallel, ctypes.c_void_p).value
    monkeypatch.setattr(ctypes, "CDLL", lambda name: SimpleNamespace(GOMP_parallel=parallel))
    assert find_parallel.__wrapped__() == address != 0
    monkeypatch.setattr(ctypes, "CDLL", lambda name: SimpleNamespace())
    assert find_parallel.__wrapped__() == 0
