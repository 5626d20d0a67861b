"""Looking in: numbers first, then pictures."""

from elman.inspect.gate_trace import trace_gates
from elman.inspect.gradients import gradient_norms
from elman.inspect.layer_gates import layer_gates
from elman.inspect.summary import cell_equations, summarize_layers

__all__ = ["cell_equations", "gradient_norms", "layer_gates", "summarize_layers", "trace_gates"]
