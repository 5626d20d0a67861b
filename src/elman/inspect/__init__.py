"""Looking in: numbers first, then pictures."""

from elman.inspect.gates import trace_gates
from elman.inspect.gradients import gradient_norms

__all__ = ["gradient_norms", "trace_gates"]
