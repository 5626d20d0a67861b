"""How far a model falls when it reads what it wrote itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elman.cli.terminal import say, table

if TYPE_CHECKING:
    from elman.cli.inspect_model import Seen
    from elman.inspect.exposure import Exposure, Running


def expose(seen: Seen, files: tuple[str, ...]) -> Exposure:
    """Measure it on examples, read as in training."""
    from elman.config import build
    from elman.inspect.exposed import measured
    from elman.tasks.kinds import TASKS

    kind = TASKS[seen.config["task"]]
    data = build(kind.data, seen.config["data"])
    examples = kind.read(data, files if len(files) > 1 else files[0])
    return measured(seen.model, seen.model.encode(examples))


def exposed(found: Exposure) -> dict[str, Any]:
    """The numbers as JSON can hold them."""
    return {
        "sequences": found.sequences,
        "bias": found.bias,
        "forced": _plain(found.forced),
        "free": _plain(found.free),
        "excess": found.excess.tolist(),
        "accumulated": found.accumulated.tolist(),
    }


def _plain(run: Running) -> dict[str, list[float]]:
    return {"nats": run.nats.tolist(), "right": run.right.tolist(), "counts": run.counts.tolist()}


def show_exposure(found: Exposure) -> None:
    """A table by position and one by own tokens."""
    click.echo(f"exposure bias: {found.bias:.3f} nats a token ({found.sequences} sequences)")
    rows = []
    for first, last in _spans(len(found.forced.nats)):
        cells = [f"{first + 1}" if last == first + 1 else f"{first + 1}-{last}"]
        for run in (found.forced, found.free):
            weights = run.counts[first:last]
            if not weights.sum():
                cells += ["", ""]
                continue
            mean = (run.nats[first:last] * weights).sum() / weights.sum()
            right = (run.right[first:last] * weights).sum() / weights.sum()
            cells += [f"{mean:.2f}", f"{100 * right:.1f}"]
        rows.append(cells)
    table(["position", "forced: nats", "right %", "free: nats", "right %"], rows)
    steps = zip(found.excess, found.accumulated, strict=True)
    table(
        ["own tokens", "nats more", "accumulated"],
        [[str(k), f"{one:.3f}", f"{total:.3f}"] for k, (one, total) in enumerate(steps, 1)],
    )


def _spans(length: int) -> list[tuple[int, int]]:
    """The first positions one by one, later ones five and more together."""
    edges = [*range(min(length, 8)), *range(8, min(length, 28), 5), *range(28, length, 20)]
    return list(zip(edges, [*edges[1:], length], strict=True)) if length else []


def draw_exposed(found: Exposure, out: Path) -> None:
    from elman.inspect.exposure_pictures import draw_exposure

    draw_exposure(found, out / "exposure.png")
    say(f"exposure bias: {out / 'exposure.png'}")
