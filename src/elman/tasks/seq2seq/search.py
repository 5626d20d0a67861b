"""How answers are written: batches of sources, a search over the decoder's steps, texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, NamedTuple

import torch

from elman import decoding
from elman.decoding.hypotheses import length_divisor
from elman.decoding.stopping import check_strings
from elman.errors import check_option
from elman.ranges import (
    BeamWidth,
    LengthPenalty,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    check_ranges,
)
from elman.shapes import Bool, Int, Tensor
from elman.text.batching import length_sorted_chunks
from elman.text.vocab import BOS, EOS

PRECISIONS = ("float32", "bfloat16")
_ROWS, _CELLS = 128, 8192  # the most sources at a time, and the most tokens of them


class Seq2SeqBatch(NamedTuple):
    """Sources and targets side by side, padded."""

    source: Int[Tensor, "B S"]
    mask: Bool[Tensor, "B S"]
    target: Int[Tensor, "B T"]  # </s> included
    target_mask: Bool[Tensor, "B T"]
    copies: Int[Tensor, "B S"]  # the source's tokens as targets; empty where nothing is copied
    unknown: int  # ids beyond the vocabulary


@dataclass(frozen=True, kw_only=True)
class DecodingConfig:
    """How to search, and when to stop."""

    beam: BeamWidth = 5  # hypotheses; 1 is greedy
    factor: NonNegativeFloat | None = None  # from 1: those at most so many times less probable than the best
    narrow: bool = True  # a completed hypothesis takes its place in the beam with it
    length_penalty: LengthPenalty = 1.0  # log p / length^α
    n_best: BeamWidth = 1
    max_tokens: PositiveInt = 256  # tokens; a source of n tokens is answered by 2n + 10 at most
    no_repeat: NonNegativeInt = 0  # no n tokens twice in an answer; 0: as may be
    repetition_penalty: PositiveFloat = 1.0  # above 1, tokens of the answer are less likely to come again
    stop: tuple[str, ...] = ()  # end at any of these strings, too
    precision: str = "float32"  # of weights and states; bfloat16 rounds them to 8 bits

    def __post_init__(self) -> None:
        check_ranges(self)
        check_strings("stop", self.stop)
        known = self.precision in PRECISIONS
        check_option("precision", repr(self.precision), known, " or ".join(PRECISIONS))
        self.search()

    def search(self) -> decoding.Beam:
        return decoding.Beam(
            width=self.beam,
            factor=self.factor,
            narrow=self.narrow,
            length_penalty=self.length_penalty,
            n_best=self.n_best,
        )

    def constraints(self) -> list[decoding.Constraint]:
        """What may come next."""
        rules: list[decoding.Constraint] = []
        if self.repetition_penalty != 1:
            rules.append(decoding.RepetitionPenalty(self.repetition_penalty))
        if self.no_repeat:
            rules.append(decoding.NoRepeatNgram(self.no_repeat))
        return rules


def write(
    steps: Sequence[tuple[decoding.Step[Any], Any]],
    batch: Seq2SeqBatch,
    config: DecodingConfig,
    text: Callable[[int, list[int]], str],
) -> list[list[decoding.Hypothesis]]:
    """The best hypotheses for each source, by one model or by several together, each without its </s>.

    ``text`` says what some tokens mean that are written about a source, given by its number.
    """
    step, state, options = _prepare(steps, batch, config, text)
    if config.beam > 1:
        return [[*map(_without_end, some)] for some in config.search()(step, state, **options)]
    written = decoding.rollout(step, state, decoding.Greedy(), **options)
    return [[_without_end(one)] for one in _hypotheses(written, config.length_penalty)]


def trace_search(
    steps: Sequence[tuple[decoding.Step[Any], Any]],
    batch: Seq2SeqBatch,
    config: DecodingConfig,
    text: Callable[[int, list[int]], str],
) -> tuple[list[decoding.BeamEvent], list[decoding.Hypothesis]]:
    """The same search for a batch of one source, step by step, and what it found."""
    step, state, options = _prepare(steps, batch, config, text)
    search, events = config.search().trace(step, state, **options), list[decoding.BeamEvent]()
    while True:
        try:
            events.append(next(search))
        except StopIteration as over:
            return events, over.value[0]


def _prepare(
    steps: Sequence[tuple[decoding.Step[Any], Any]],
    batch: Seq2SeqBatch,
    config: DecodingConfig,
    text: Callable[[int, list[int]], str],
) -> tuple[decoding.Step[Any], Any, Any]:
    """The step of one model or of several together, its first state, and where a search begins and ends."""
    step, state = steps[0]
    if len(steps) > 1:
        step, state = decoding.ensemble([s for s, _ in steps]), tuple(s for _, s in steps)
    start = torch.full_like(batch.source[:, 0], BOS)
    limits = (2 * batch.mask.sum(1) + 10).clamp(max=config.max_tokens)
    strings = (decoding.AtStrings(config.stop, text),) if config.stop else ()
    stop = decoding.AnyOf((decoding.AtTokens((EOS,)), decoding.AtLengths(limits), *strings))
    options: Any = {"start": start, "stop": stop, "limit": int(limits.max())}
    options["constraints"] = config.constraints()
    return step, state, options


def _hypotheses(written: Any, length_penalty: float) -> Iterator[decoding.Hypothesis]:
    rows = zip(written.tokens.tolist(), written.log_probs.tolist(), written.mask.sum(1).tolist(), strict=True)
    for tokens, log_probs, n in rows:
        score = sum(log_probs[:n]) / length_divisor(n, length_penalty)
        yield decoding.Hypothesis(tokens[:n], log_probs[:n], score)


def _without_end(hypothesis: decoding.Hypothesis) -> decoding.Hypothesis:
    tokens = hypothesis.tokens
    return hypothesis._replace(tokens=tokens[:-1] if tokens[-1] == EOS else tokens)


def chunks(lengths: Sequence[int]) -> Iterator[list[int]]:
    """All sources by number, those of like length together, a bounded number of tokens at a time.

    Where one chunk does not hold them all they make an even number of like size: threads share them.
    """
    pairs = ceil(len(lengths) / (2 * _ROWS))
    most = _ROWS if len(lengths) <= _ROWS else ceil(len(lengths) / (2 * pairs))
    return length_sorted_chunks(lengths, max_rows=most, max_tokens=_CELLS)
