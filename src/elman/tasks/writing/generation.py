"""Text written by a language model: greedily, by sampling, or by beam search."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

from elman.decoding import (
    Beam,
    Constraint,
    Event,
    Greedy,
    Policy,
    Stop,
    rollout,
    unroll,
)
from elman.errors import ConfigError
from elman.shapes import Tensor
from elman.state import repeat
from elman.tasks.writing.predictor import Predictor, reading, stepwise
from elman.tasks.writing.prompt import Prompt, finished, prompt
from elman.tasks.writing.rules import Rules, written_text
from elman.tasks.writing.sampling import Sampling

__all__ = ["Generation", "How", "Sampling", "generate", "trace", "write"]


How = Sampling | Greedy | Beam


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


def generate(
    lm: Predictor,
    text: str = "",
    how: How | None = None,
    *,
    n: int = 1,
    rules: Rules | None = None,
) -> list[Generation]:
    """``n`` continuations of a text: n samples, or the n best of a beam; `Sampling()` unless said.

    Where the text ends inside a word or a subword, it is completed first; a word that no known one begins
    with is read as it stands.
    """
    how, rules, read = how or Sampling(), rules or Rules(), start(lm, text)
    if n < 1 or (isinstance(how, Greedy) and n > 1):
        raise ConfigError(f"n is {n}; it must be at least 1, and without chance there is but one")
    if isinstance(how, Beam):
        beam = how if n == 1 else replace(how, n_best=n)
        with reading(lm) as net:
            [best] = beam(net.step, read.place.state, **_task(lm, read, rules))
        return [_generation(lm, read, rules, *way) for way in best]
    policy = how.policy() if isinstance(how, Sampling) else how
    with reading(lm) as net:
        written = rollout(
            net.step, repeat(read.place.state, n), policy, **_task(lm, read, rules, n)
        )
    rows = zip(written.tokens, written.log_probs, written.mask, strict=True)
    plain = [(ids[mask].tolist(), chances[mask].tolist()) for ids, chances, mask in rows]
    return [_generation(lm, read, rules, ids, chances, sum(chances)) for ids, chances in plain]


def write(
    lm: Predictor, text: str = "", how: Sampling | Greedy | None = None, rules: Rules | None = None
) -> Iterator[str]:
    """One continuation, piece by piece as it comes."""
    how, rules, read = how or Sampling(), rules or Rules(), start(lm, text)
    policy: Policy = how.policy() if isinstance(how, Sampling) else how
    ids: list[int] = []
    said = ""
    turns = unroll(lm.net.step, read.place.state, policy, **_task(lm, read, rules))
    for turn in stepwise(lm, turns):
        if not bool(turn.mask.any()):
            break
        ids += turn.tokens.tolist()
        certain = _certain(_before(written_text(lm, read, ids), rules.stop), rules.stop)
        yield certain[len(said) :]
        said = max(said, certain, key=len)
    yield _before(written_text(lm, read, ids), rules.stop)[len(said) :]


def trace(
    lm: Predictor, text: str, beam: Beam, rules: Rules | None = None
) -> Generator[tuple[Event, list[str]], None, list[Generation]]:
    """A beam search told step by step, with the text of each hypothesis; it returns what `generate` does."""
    rules, read = rules or Rules(), start(lm, text)
    events = beam.trace(lm.net.step, read.place.state, **_task(lm, read, rules))
    while True:
        try:
            with reading(lm):
                event = next(events)
        except StopIteration as over:
            return [_generation(lm, read, rules, *way) for way in over.value[0]]
        yield event, [text + written_text(lm, read, way.tokens) for way in event.kept]


def start(lm: Predictor, text: str) -> Prompt:
    """A prompt that can be continued."""
    read = prompt(lm, text)
    return finished(lm, read) if read.typed.allowed(()) == [] else read


class _Task(TypedDict):
    """What all ways to write are told."""

    start: Tensor
    stop: Stop
    limit: int
    constraints: list[Constraint]


def _task(lm: Predictor, read: Prompt, rules: Rules, rows: int = 1) -> _Task:
    return {
        "start": read.place.token.repeat(rows),
        "stop": rules.ends(lm, read),
        "limit": rules.max_tokens,
        "constraints": rules.constraints(lm, read),
    }


def _generation(
    lm: Predictor,
    read: Prompt,
    rules: Rules,
    ids: Sequence[int],
    log_probs: list[float],
    score: float,
) -> Generation:
    text = _before(written_text(lm, read, ids), rules.stop)
    return Generation(read.text, text, log_probs, score, ids[-1] == lm.end)


def _before(text: str, stops: Sequence[str]) -> str:
    """The text up to the first of the strings."""
    places = [text.index(stop) for stop in stops if stop in text]
    return text[: min(places)] if places else text


def _certain(text: str, stops: Sequence[str]) -> str:
    """The text without what may be the beginning of a string to stop at, or of a character."""
    text = text.rstrip("\ufffd")
    longest = min(len(text), max(map(len, stops), default=0))
    begun = (n for n in range(longest, 0, -1) if any(s.startswith(text[-n:]) for s in stops))
    return text[: len(text) - next(begun, 0)]
