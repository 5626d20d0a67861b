"""elman evaluate: the task's metrics on a file."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import click

from elman.cli.terminal import on_device


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--text", metavar="COLUMN", help="Name or number of the text's column, if not as in training."
)
@click.option("--label", metavar="COLUMN")
@click.option("--encoding")
@on_device
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else."
)
def evaluate(
    folder: Path,
    files: tuple[str, ...],
    text: str | None,
    label: str | None,
    encoding: str | None,
    device: str,
    as_json: bool,
) -> None:
    """Score a model on labelled examples.

    FILES are read as in training: one table, or a file of texts and one of labels.

    \b
    Examples:
      elman evaluate models/topics test.tsv
      elman evaluate models/topics test.tsv --json
    """
    from elman import artifact
    from elman.config import build
    from elman.metrics import confusion, label_scores
    from elman.tasks.classifier import Data, read

    model = artifact.load(folder, device=device)
    data = build(Data, artifact.read_config(folder)["data"])
    data = replace(
        data,
        text=text or data.text,
        label=label or data.label,
        encoding=encoding or data.encoding,
    )
    examples = model.encode(read(data, files if len(files) > 1 else files[0]))
    scores = model.evaluate(examples)
    gold, guess = model.judged(examples)
    table, each = confusion(gold, guess), label_scores(gold, guess)
    if as_json:
        matrix = {"labels": table.labels, "counts": table.counts}
        rows = {name: asdict(score) for name, score in each.items()}
        click.echo(json.dumps({**scores, "labels": rows, "confusion": matrix}))
        return
    from elman.cli.terminal import table as show

    for name, value in scores.items():
        click.echo(f"{name} {value:.0f}" if name == "examples" else f"{name} {value:.2f}")
    header = ["label", "precision", "recall", "F1", "examples"]
    show(
        header,
        [
            [n, f"{s.precision:.1f}", f"{s.recall:.1f}", f"{s.f1:.1f}", str(s.support)]
            for n, s in each.items()
        ],
    )
    click.echo("confusion (rows: right, columns: guessed)")
    show(
        ["", *table.labels],
        [[n, *map(str, row)] for n, row in zip(table.labels, table.counts, strict=True)],
    )
