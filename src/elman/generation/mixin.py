"""What people do with a language model, as methods: the functions of this room, of the model itself."""

from __future__ import annotations

from elman.argument_checks import check_arguments
from elman.generation.cache import Cache, with_cache
from elman.generation.predictor import LMPredictor
from elman.generation.scoring import score, scores
from elman.generation.text_generation import generate, generate_iter
from elman.generation.text_stream import TextStream
from elman.generation.word_completion import complete


class GenerationMixin:
    """Scoring, writing, completing and streaming, for any class that is a `LMPredictor`.

    With a ``cache`` recent words are likelier; with ``dynamic`` the weights follow what is scored, or the
    prompt that is continued, and are as before in the next call.
    """

    score = score
    scores = scores
    generate = generate
    generate_iter = generate_iter
    complete = complete

    @check_arguments
    def stream(self: LMPredictor, *, cache: Cache | None = None) -> TextStream:
        """A text that is read as it comes."""
        return TextStream(with_cache(self, cache) if cache else self)
