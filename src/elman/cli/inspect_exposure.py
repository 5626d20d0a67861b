"""How far a model falls when it reads what it wrote itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from elman.cli.terminal import print_table, say

if TYPE_CHECKING:
    from elman.cli.inspect_model import InspectedModel
    from elman.files.picture_files import PictureFolder
    from elman.inspect.exposure_curves import Exposure


def exposure_on_files(seen: InspectedModel, files: tuple[str, ...]) -> Exposure:
    """Measure it on examples, read as in training."""
    from elman.inspect.exposure import measure_task_exposure

    examples = seen.model.read(seen.record.data, files if len(files) > 1 else files[0])
    return measure_task_exposure(seen.model, seen.model.encode(examples))


def exposure_json(found: Exposure) -> dict[str, Any]:
    """The numbers as JSON can hold them."""
    return {
        "sequences": found.sequences,
        "bias": found.bias,
        **{name: {n: c.tolist() for n, c in vars(getattr(found, name)).items()} for name in ("forced", "free")},
        "excess": found.excess.tolist(),
        "accumulated": found.cumulative.tolist(),
    }


def show_exposure(found: Exposure) -> None:
    """A table by position and one by own tokens."""
    click.echo(f"exposure bias: {found.bias:.3f} nats a token ({found.sequences:,} sequences)")
    rows = []
    for first, last in _spans(len(found.forced.nats)):
        cells = [f"{first + 1}" if last == first + 1 else f"{first + 1}-{last}"]
        for run in (found.forced, found.free):
            weights = run.counts[first:last]
            if not weights.sum():
                cells += ["", ""]
                continue
            nats, right = ((c[first:last] * weights).sum() / weights.sum() for c in (run.nats, run.right))
            cells += [f"{nats:.2f}", f"{100 * right:.1f}"]
        rows.append(cells)
    print_table(["position", "forced: nats", "right %", "free: nats", "right %"], rows)
    steps = zip(found.excess, found.cumulative, strict=True)
    print_table(
        ["own tokens", "nats more", "accumulated"],
        [[str(k), f"{one:.3f}", f"{total:.3f}"] for k, (one, total) in enumerate(steps, 1)],
    )


def _spans(length: int) -> list[tuple[int, int]]:
    """The first positions one by one, later ones five and more together."""
    edges = [*range(min(length, 8)), *range(8, min(length, 28), 5), *range(28, length, 20)]
    return list(zip(edges, [*edges[1:], length], strict=True)) if length else []


def plot_exposure(found: Exposure, out: PictureFolder, *, about: str) -> None:
    """Its curves."""
    from elman.inspect.exposure_curves import plot_exposure_curves

    path = out.path("exposure")
    plot_exposure_curves(found, path, about=about)
    say(f"exposure bias: {path}")
