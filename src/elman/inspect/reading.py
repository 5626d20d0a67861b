"""What is seen of a model while it reads one text."""

from __future__ import annotations

from dataclasses import dataclass

from elman.inspect.layer_gates import LayerGates
from elman.inspect.saliency import Saliency, Shares
from elman.tasks.seq2seq import Alignment


@dataclass(frozen=True)
class Surprise:
    """-log p of each token of a text, its end included, in nats."""

    tokens: list[str]
    nats: list[float]


@dataclass(frozen=True)
class Reading:
    """One text, token by token."""

    tokens: list[str]  # what the network read
    blank: str  # what stands between two tokens
    gates: list[LayerGates]
    saliency: list[Saliency]
    attention: Shares | None = None  # (T,), where a text is summed up by it
    surprise: Surprise | None = None  # of a language model; at its own answer, of a Seq2Seq
    alignment: Alignment | None = None  # of a Seq2Seq that attends, with its answer
