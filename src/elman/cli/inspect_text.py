"""What a model does while it reads one text, as numbers, as coloured text and as pictures."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from elman.cli.terminal import print_table, say
from elman.cli.token_colors import show_tokens, surprisal_color, weight_color

if TYPE_CHECKING:
    from elman.files.picture_files import PictureFolder
    from elman.inspect.text_explanation import TextExplanation


def explanation_json(found: TextExplanation) -> dict[str, Any]:
    """All of a reading, as JSON can hold it; gates (T, H) by layer and name."""
    gates = [(g, {name: _round(values) for name, values in g.values.items()}) for g in found.gates]
    looked = found.alignment
    return {
        "tokens": found.tokens,
        "gates": [
            {"part": g.part, "layer": g.layer, "direction": g.direction, "tokens": g.tokens, "values": values}
            for g, values in gates
        ],
        "saliency": [asdict(s) | {"shares": _round(s.shares)} for s in found.saliency],
        "attention": None if found.attention is None else _round(found.attention),
        "surprisal": found.surprisal and asdict(found.surprisal),
        "alignment": looked and {"target": looked.target, "weights": _round(looked.weights.numpy())},
    }


def _round(values: Any) -> Any:
    return values.astype("float64").round(6).tolist()


def show_explanation(found: TextExplanation) -> None:
    """For people, on stdout: how open the gates stood, and each token by what it did."""
    _show_gates(found)
    _show_saliency(found)
    if found.attention is not None:
        click.echo("\nattention: the weight of each token in the sum that is judged")
        pairs = [*zip(found.tokens, map(float, found.attention), strict=True)]
        show_tokens(pairs, weight_color(max(found.attention)), blank=found.blank)
    if looked := found.alignment:
        from elman.inspect.alignment import show_alignment

        click.echo("\nattention: where the model looked most for each token")
        click.echo(show_alignment(looked.weights.numpy(), looked.source, looked.target))
    if surprisal := found.surprisal:
        click.echo("\nsurprisal: -log p of each token and of the end, in nats")
        pairs = [*zip(surprisal.tokens, surprisal.nats, strict=True)]
        show_tokens(pairs, surprisal_color, blank=found.blank)


def _show_saliency(found: TextExplanation) -> None:
    """Every token of a short text; of a long one the strongest, with their context."""
    from elman.inspect.salient_tokens import LONG, strongest_tokens

    click.echo("\nsaliency: what each token says for an answer, gradient × input in nats")
    if len(found.tokens) <= LONG:
        shade = weight_color(max(abs(float(v)) for s in found.saliency for v in s.shares))
        for s in found.saliency:
            click.echo(s.title)
            pairs = [*zip(found.tokens, map(float, s.shares), strict=True)]
            show_tokens(pairs, shade, blank=found.blank, number="+.2f")
        return
    few = {"count": 3} if len(found.saliency) > 1 else {}
    for s in found.saliency:
        strongest = strongest_tokens(found.tokens, s.shares, blank=found.blank, **few)
        click.echo(f"{s.title} (the {len(strongest)} strongest of {len(found.tokens)} tokens)")
        for token in strongest:
            click.echo(f"  {token.share:+.2f}  {token.place:>4}  {token.context}")


def _show_gates(explanation: TextExplanation) -> None:
    from elman.inspect.layer_gates import saturation

    rows = [
        [g.name, g.label(name), f"{s.mean:.3f}", f"{s.closed:.1f}", f"{s.open:.1f}"]
        for g in explanation.gates
        for name, s in saturation(g.values).items()
    ]
    if not rows:
        click.echo("\nno gates to show: no layer that reads the text has a cell with a formula")
    else:
        click.echo("\ngates, candidates and states, of their absolute values over all units and tokens")
        print_table(["layer", "value", "mean", "% below 0.1", "% above 0.9"], rows, left_columns=(0, 1))


def plot_explanation(found: TextExplanation, out: PictureFolder, *, about: str) -> None:
    """A picture of each layer's gates, of the saliency, and of attention and surprisal where there are any."""
    from elman.inspect.alignment import plot_alignment
    from elman.inspect.text_plots import plot_bars, plot_gates, plot_saliency

    for g in found.gates:
        part = f"{g.part.replace(',', '').replace(' ', '-')}-" if g.part else ""
        path = out.path(f"gates-{part}{g.layer}-{g.direction}")
        plot_gates(g.tokens, g, path, about=about)
        say(f"gates of {g.name}: {path}")
    path = out.path("saliency")
    plot_saliency(found.tokens, found.saliency, path, blank=found.blank, about=about)
    say(f"saliency: {path}")
    path, title = out.path("attention"), "Attention: where the model looks"
    if found.attention is not None:
        plot_bars(found.tokens, found.attention, path, title=title, label="weight α", about=about)
        say(f"attention: {path}")
    if looked := found.alignment:
        plot_alignment(looked.weights.numpy(), looked.source, looked.target, path, about=about)
        say(f"attention: {path}")
    if surprisal := found.surprisal:
        path, title = out.path("surprisal"), "Surprisal of each token and of the end"
        plot_bars(surprisal.tokens, surprisal.nats, path, title=title, label="-log p, nats", about=about)
        say(f"surprisal: {path}")
