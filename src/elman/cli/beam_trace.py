"""A beam search told step by step on stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from elman.decoding import Beam, BeamEvent
    from elman.generation import Generation, GenerationConfig, LMPredictor


def print_beam_trace(model: LMPredictor, prompt: str, beam: Beam, rules: GenerationConfig) -> list[Generation]:
    """The texts that a beam search finds, each step of it on stderr."""
    from elman.generation import trace_beam

    search = trace_beam(model, prompt, beam, config=rules)
    try:
        while True:
            _tell(*next(search))
    except StopIteration as over:
        found: list[Generation] = over.value
        return found


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
