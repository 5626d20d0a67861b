"""Looking in: numbers first, then pictures."""

from elman.inspect.gate_trace import trace_gates
from elman.inspect.gradients import gradient_norms
from elman.inspect.judge_examples import judge_examples
from elman.inspect.layer_gates import layer_gates
from elman.inspect.mistake_file import write_mistakes
from elman.inspect.mistakes import ExplainedMistake, explain_mistakes
from elman.inspect.model_comparison import ModelComparison, compare_models
from elman.inspect.slices import Slice, score_slices
from elman.inspect.summary import cell_equations, summarize_layers
from elman.inspect.text_explanation import TextExplanation, explain

__all__ = ["cell_equations", "gradient_norms", "layer_gates", "summarize_layers", "trace_gates"]
__all__ += ["ExplainedMistake", "ModelComparison", "Slice", "compare_models", "explain_mistakes"]
__all__ += ["judge_examples", "score_slices", "write_mistakes"]
__all__ += ["TextExplanation", "explain"]
