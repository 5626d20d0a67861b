"""What a model does while it reads one text, as numbers, as coloured text and as pictures."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elman.cli.shades import by_surprise, by_weight, show_tokens
from elman.cli.terminal import say, table

if TYPE_CHECKING:
    from elman.inspect.reading import Reading
    from elman.tasks.seq2seq import Alignment


def numbers(reading: Reading) -> dict[str, Any]:
    """All of a reading, as JSON can hold it; gates (T, H) by layer and name."""
    return {
        "tokens": reading.tokens,
        "gates": [
            {
                "layer": g.layer,
                "direction": g.direction,
                "values": {n: _rounded(values) for n, values in g.values.items()},
            }
            for g in reading.gates
        ],
        "saliency": [
            dataclasses.asdict(s) | {"shares": _rounded(s.shares)} for s in reading.saliency
        ],
        "attention": None if reading.attention is None else _rounded(reading.attention),
        "surprise": None if reading.surprise is None else dataclasses.asdict(reading.surprise),
        "alignment": None if reading.alignment is None else _aligned(reading.alignment),
    }


def _aligned(alignment: Alignment) -> dict[str, Any]:
    return {"target": alignment.target, "weights": _rounded(alignment.weights.numpy())}


def _rounded(values: Any) -> Any:
    return values.astype("float64").round(6).tolist()


def show_reading(reading: Reading) -> None:
    """For people, on stdout: how open the gates stood, and each token by what it did."""
    _show_gates(reading)
    most = max(abs(float(v)) for s in reading.saliency for v in s.shares)
    click.echo("\nsaliency: what each token says for an answer, gradient × input in nats")
    for s in reading.saliency:
        click.echo(s.title)
        pairs = list(zip(reading.tokens, map(float, s.shares), strict=True))
        show_tokens(pairs, by_weight(most), blank=reading.blank, number="+.2f")
    if reading.attention is not None:
        click.echo("\nattention: the weight of each token in the sum that is judged")
        pairs = list(zip(reading.tokens, map(float, reading.attention), strict=True))
        show_tokens(pairs, by_weight(max(reading.attention)), blank=reading.blank)
    if reading.alignment is not None:
        from elman.inspect.alignment import show_alignment

        looked = reading.alignment
        click.echo("\nattention: where the model looked most for each token of its answer")
        click.echo(show_alignment(looked.weights.numpy(), looked.source, looked.target))
    if reading.surprise is not None:
        click.echo("\nsurprise: -log p of each token and of the end, in nats")
        pairs = list(zip(reading.surprise.tokens, reading.surprise.nats, strict=True))
        show_tokens(pairs, by_surprise, blank=reading.blank)


def _show_gates(reading: Reading) -> None:
    from elman.inspect.layer_gates import saturation

    rows = [
        [g.name, name, f"{s.mean:.3f}", f"{s.closed:.1f}", f"{s.open:.1f}"]
        for g in reading.gates
        for name, s in saturation(g.values).items()
    ]
    if rows:
        click.echo("\ngates and states, of their absolute values over all units and tokens")
        table(["layer", "gate", "mean", "% below 0.1", "% above 0.9"], rows)


def draw_reading(reading: Reading, out: Path) -> None:
    """A picture of each layer's gates, of the saliency, and of attention and surprise where there are any."""
    from elman.inspect.text_pictures import draw_bars, draw_gates, draw_saliency

    for g in reading.gates:
        path = out / f"gates-{g.layer}-{g.direction}.png"
        draw_gates(reading.tokens, g, path)
        say(f"gates of {g.name}: {path}")
    draw_saliency(reading.tokens, reading.saliency, out / "saliency.png")
    say(f"saliency: {out / 'saliency.png'}")
    if reading.attention is not None:
        path, title = out / "attention.png", "Attention: where the classifier looks"
        draw_bars(reading.tokens, reading.attention, path, title=title, label="weight α")
        say(f"attention: {path}")
    if reading.alignment is not None:
        from elman.inspect.alignment import draw_alignment

        path, looked = out / "attention.png", reading.alignment
        draw_alignment(looked.weights.numpy(), looked.source, looked.target, path)
        say(f"attention: {path}")
    if reading.surprise is not None:
        path, title = out / "surprise.png", "Surprise at each token and at the end"
        label = "-log p, nats"
        draw_bars(reading.surprise.tokens, reading.surprise.nats, path, title=title, label=label)
        say(f"surprise: {path}")
