"""What a language model can write: generate, score, complete and stream text, and adapt to it.

Everything works on an `LMPredictor`: a tokenizer, a network and the id that ends a line. A `LanguageModel` has
the same functions as methods.
"""

from elman.generation.adapted_lm import AdaptedLM, adapt
from elman.generation.cache import Cache, with_cache
from elman.generation.dynamic_eval import DynamicEval
from elman.generation.generation_config import DecodingStrategy, GenerationConfig, Sampling
from elman.generation.mixin import GenerationMixin
from elman.generation.predictor import LMNetwork, LMPredictor
from elman.generation.scoring import TextScore, score, score_running, scores
from elman.generation.text_generation import Generation, generate, generate_iter, trace_beam
from elman.generation.text_stream import NextToken, TextStream
from elman.generation.word_completion import complete
from elman.generation.word_search import Completion

__all__ = ["AdaptedLM", "Cache", "Completion", "DecodingStrategy", "DynamicEval", "Generation"]
__all__ += ["GenerationConfig", "GenerationMixin", "LMNetwork", "LMPredictor", "NextToken", "Sampling"]
__all__ += ["TextScore", "TextStream", "adapt", "complete", "generate", "generate_iter"]
__all__ += ["score", "score_running", "scores", "trace_beam", "with_cache"]
