"""What is seen of a model while it reads one text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

from elman.errors import ModelError
from elman.inspect.inline_pictures import DPI, inline_picture
from elman.inspect.layer_gates import LayerGates, decoder_gates, pass_gates
from elman.inspect.saliency import Saliency, Shares, gradient_x_input
from elman.inspect.text_plots import plot_gates
from elman.state import eval_mode
from elman.tasks.base import Task
from elman.tasks.results import Alignment, Surprisal


@dataclass(frozen=True)
class TextExplanation:
    """One text, token by token."""

    tokens: list[str]  # what the network read
    blank: str  # what stands between two tokens
    gates: list[LayerGates]
    saliency: list[Saliency]
    attention: Shares | None = None  # (T,), where a text is summed up by it
    surprisal: Surprisal | None = None  # of a language model; at its own answer, of a Seq2Seq
    alignment: Alignment | None = None  # of a Seq2Seq that attends, with its answer

    def __repr__(self) -> str:
        layers = ", ".join(layer.name for layer in self.gates)
        return f"<explanation of {len(self.tokens)} tokens; gates: {layers or 'none'}>"

    def _repr_html_(self) -> str | None:
        if find_spec("matplotlib") is None:  # then a notebook shows the text
            return None
        pictures = [
            inline_picture(partial(plot_gates, layer.tokens, layer, dpi=DPI), f"gates of {layer.name}")
            for layer in self.gates
        ]
        return "".join([*pictures, *([self.alignment._repr_html_()] if self.alignment else [])])


def explain(task: Task, text: str, *, word: int | None = None) -> TextExplanation:
    """Gates, saliency, attention and surprisal while a model reads a text of one line.

    Explained are: of a classifier its label; of a tagger the tag of every word, or of ``word`` (from 1)
    alone; of a language model what it expects after the text, or why it expected token ``word`` there; of a
    sequence-to-sequence model every token of its answer, or token ``word`` of it.
    """
    if not text.strip():
        raise ModelError("the text is empty: there is nothing to read")
    if len(text.splitlines()) > 1:
        raise ModelError("the text has several lines: look at one at a time")
    with eval_mode(task.net):
        seen = task.trace(text, word)
        shares = gradient_x_input(seen.embedding, seen.margins)
        gates = [gates for one in seen.passes for gates in pass_gates(one)]
        gates += [] if seen.decoder is None else decoder_gates(seen.decoder)
    count = len(seen.tokens)  # a transducer reads beyond the end of its source
    saliency = [Saliency(*question, row[:count]) for question, row in zip(seen.questions, shares, strict=True)]
    attention = None if seen.attention is None else seen.attention.numpy()
    how = (attention, seen.surprisal, seen.alignment)
    return TextExplanation(seen.tokens, seen.separator, gates, saliency, *how)
