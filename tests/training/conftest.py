"""The first use of an operation of PyTorch takes its time: no deadlines."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
