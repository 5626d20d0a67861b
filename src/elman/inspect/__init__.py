"""Looking in: numbers first, then pictures."""

from elman.inspect.gates import trace_gates
from elman.inspect.gradients import gradient_norms
from elman.inspect.layer_gates import layer_gates
from elman.inspect.summary import formulas, layers

__all__ = ["formulas", "gradient_norms", "layer_gates", "layers", "trace_gates"]
