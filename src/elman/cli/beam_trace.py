"""A beam search told step by step on stderr, and as a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from elman.decoding import Beam, BeamEvent, BeamTree, Hypothesis
    from elman.generation import Generation, GenerationConfig, LMPredictor


def follow_beam(
    model: LMPredictor, prompt: str, beam: Beam, rules: GenerationConfig, *, told: bool
) -> tuple[list[Generation], BeamTree]:
    """The texts that a beam search finds, and the search as a tree; if ``told``, its steps on stderr."""
    from functools import partial

    from elman.decoding import grow_tree
    from elman.generation import trace_beam
    from elman.generation.token_bytes import display_token

    search, events = trace_beam(model, prompt, beam, config=rules), []
    while True:
        try:
            event, texts = next(search)
        except StopIteration as over:
            found: list[Generation] = over.value
            break
        events.append(event)
        if told:
            _tell(event, texts)
    show = partial(display_token, model.tokenizer)
    return found, grow_tree(events, _find_answers(events, found), show, start=prompt)


def _find_answers(events: list[BeamEvent], found: list[Generation]) -> list[Hypothesis]:
    """The hypotheses that became texts: those that ended and cost the same, token by token."""
    costs = [text.log_probs for text in found]
    kept = (pair for event in events for pair in zip(event.kept, event.ended, strict=True))
    return [one for one, ended in kept if ended and one.log_probs in costs]


def _tell(event: BeamEvent, texts: list[str]) -> None:
    pruned = f"pruned {event.beyond_factor} by factor, {event.beyond_width} by width"
    line = f"{event.position + 1}: width {event.width}, kept {len(event.kept)}, {pruned}"
    if event.completed:
        line += f", completed {event.completed}"
    if event.closed:
        line += f"; over: {event.closed}"
    click.echo(line, err=True)
    for way, text in zip(event.kept, texts, strict=True):
        click.echo(f"   {way.score:9.4f}  {text!r}", err=True)
