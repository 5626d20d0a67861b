"""Text written by a language model: by sampling, greedily, or by beam search."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import torch

from elman.argument_checks import check_arguments
from elman.decoding import Beam, BeamEvent, Greedy, Hypothesis, Policy, rollout, unroll
from elman.decoding.interfaces import Limits
from elman.errors import ConfigError
from elman.generation.adapted_lm import adapt
from elman.generation.cache import Cache
from elman.generation.cursor import Prompt, hold_back, prepare_prompt, truncate_at_stop
from elman.generation.dynamic_eval import DynamicEval
from elman.generation.generation_config import DecodingStrategy, GenerationConfig, Sampling
from elman.generation.predictor import LMPredictor, writing_step
from elman.ranges import PositiveInt
from elman.state import eval_mode, repeat
from elman.text.arguments import check_text

T = TypeVar("T")


@dataclass(frozen=True)
class Generation:
    """A text that was written; ``str`` of it is the text."""

    prompt: str
    continuation: str
    log_probs: list[float]  # of the model, one for each token after the prompt, the end's included
    score: float  # what a beam ranks by; otherwise the sum of log_probs
    ended: bool  # by itself: not at a limit nor at a string where it was to stop

    @property
    def text(self) -> str:
        """The prompt and what follows it."""
        return self.prompt + self.continuation

    def __str__(self) -> str:
        return self.text


@check_arguments
def generate(
    lm: LMPredictor,
    prompt: str = "",
    strategy: DecodingStrategy | None = None,
    *,
    n: PositiveInt = 1,
    max_tokens: PositiveInt | None = None,
    passage: bool | None = None,
    config: GenerationConfig | None = None,
    cache: Cache | None = None,
    dynamic: DynamicEval | None = None,
) -> list[Generation]:
    """``n`` texts that begin with the prompt: samples (the default), the greedy one, or the n best of a beam.

    Where the prompt ends inside a word or a subword, that is completed first; a word that no known one begins
    with is read as it stands. ``max_tokens`` and ``passage`` are those of the config, by name.
    """
    prompt = check_text(prompt, "generate")
    strategy, config = strategy or Sampling(), _resolve(config, max_tokens, passage)
    if isinstance(strategy, Greedy) and n > 1:
        raise ConfigError(f"n is {n}; it must be 1, as there is but one greedy text")
    lm = adapt(lm, prompt, config.limit, cache=cache, dynamic=dynamic)
    read = prepare_prompt(lm, prompt)
    with torch.no_grad(), eval_mode(lm.net) as net:
        if isinstance(strategy, Beam):
            beam = strategy if n == 1 else replace(strategy, n_best=n)
            [best] = beam(net.step, read.cursor.state, **_limits(lm, read, config))
        else:
            state, limits = repeat(read.cursor.state, n), _limits(lm, read, config, n)
            written = rollout(writing_step(net), state, _policy(strategy, n), **limits)
            rows = zip(written.tokens, written.log_probs, written.mask, strict=True)
            plain = [(ids[mask].tolist(), log_probs[mask].tolist()) for ids, log_probs, mask in rows]
            best = [Hypothesis(ids, values, sum(values)) for ids, values in plain]
    return [_generation(lm, read, config, hypothesis) for hypothesis in best]


@check_arguments
def generate_iter(
    lm: LMPredictor,
    prompt: str = "",
    strategy: Sampling | Greedy | None = None,
    *,
    max_tokens: PositiveInt | None = None,
    passage: bool | None = None,
    config: GenerationConfig | None = None,
    cache: Cache | None = None,
    dynamic: DynamicEval | None = None,
) -> Iterator[str]:
    """One continuation of the prompt, piece by piece as it comes."""
    prompt = check_text(prompt, "generate_iter")
    config, policy = _resolve(config, max_tokens, passage), _policy(strategy or Sampling())
    lm = adapt(lm, prompt, config.limit, cache=cache, dynamic=dynamic)
    read, ids, said = prepare_prompt(lm, prompt), list[int](), ""
    turns = unroll(lm.net.step, read.cursor.state, policy, **_limits(lm, read, config))
    for turn in _iterate_in_eval_mode(lm, turns):
        if not bool(turn.mask.any()):
            break
        ids += turn.tokens.tolist()
        text = truncate_at_stop(config.decode(lm, read, ids), config.stop)
        certain = hold_back(text, config.stop)
        yield certain[len(said) :]
        said = max(said, certain, key=len)
    yield truncate_at_stop(config.decode(lm, read, ids), config.stop)[len(said) :]


def trace_beam(
    lm: LMPredictor, prompt: str, beam: Beam, *, config: GenerationConfig | None = None
) -> Generator[tuple[BeamEvent, list[str]], None, list[Generation]]:
    """A beam search step by step, with the text of each hypothesis; it returns what `generate` does."""
    config, read = config or GenerationConfig(), prepare_prompt(lm, prompt)
    events = beam.trace(lm.net.step, read.cursor.state, **_limits(lm, read, config))
    while True:
        try:
            with torch.no_grad(), eval_mode(lm.net):
                event = next(events)
        except StopIteration as over:
            return [_generation(lm, read, config, hypothesis) for hypothesis in over.value[0]]
        yield event, [prompt + config.decode(lm, read, one.tokens) for one in event.kept]


def _iterate_in_eval_mode(lm: LMPredictor, items: Iterator[T]) -> Iterator[T]:
    """The same items, each computed without dropout and gradients; between them everything is as it was."""
    while True:
        with torch.no_grad(), eval_mode(lm.net):
            try:
                item = next(items)
            except StopIteration:
                return
        yield item


def _resolve(config: GenerationConfig | None, max_tokens: int | None, passage: bool | None) -> GenerationConfig:
    named: dict[str, Any] = {"max_tokens": max_tokens, "passage": passage}
    return replace(config or GenerationConfig(), **{k: v for k, v in named.items() if v is not None})


def _policy(strategy: Sampling | Greedy, rows: int = 1) -> Policy:
    return strategy.policy(rows) if isinstance(strategy, Sampling) else strategy


def _limits(lm: LMPredictor, read: Prompt, config: GenerationConfig, rows: int = 1) -> Limits:
    return {
        "start": read.cursor.token.repeat(rows),
        "stop": config.stopping(lm, read),
        "limit": config.limit,
        "constraints": config.constraints(lm, read),
    }


def _generation(lm: LMPredictor, read: Prompt, config: GenerationConfig, written: Hypothesis) -> Generation:
    ids, log_probs, score = written
    text = truncate_at_stop(config.decode(lm, read, ids), config.stop)
    return Generation(read.text, text, log_probs, score, ids[-1] == lm.end and not config.passage)
