"""Mistakes as a file: TSV, CSV or JSON lines, by its ending; written whole or not at all."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from elman.errors import ConfigError
from elman.files.atomic_files import write_result
from elman.inspect.mistakes import ExplainedMistake

ENDINGS = (".tsv", ".csv", ".jsonl")


def check_mistake_file(path: Path) -> None:
    """Refuse a name that does not say how to write, and a folder that is not there."""
    if path.suffix not in ENDINGS:
        raise ConfigError(f"{path}: mistakes are written as {', '.join(ENDINGS)}; end the name in one of these")
    if not path.parent.is_dir():
        raise ConfigError(f"{path}: there is no folder {path.parent}")


def write_mistakes(mistakes: Sequence[ExplainedMistake], path: Path) -> None:
    """A row for each mistake; in a TSV file, tabs and line ends within a cell become blanks."""
    check_mistake_file(path)
    if path.suffix == ".jsonl":
        text = "".join(f"{json.dumps(_record(one), ensure_ascii=False)}\n" for one in mistakes)
    else:
        text = _table(mistakes, path.suffix)
    write_result(path, text.encode())


def _record(mistake: ExplainedMistake) -> dict[str, Any]:
    why = mistake.why
    return {**mistake.record, "why": None if why is None else [{"token": t, "nats": n} for t, n in why]}


def _table(mistakes: Sequence[ExplainedMistake], ending: str) -> str:
    names = [*dict.fromkeys(name for one in mistakes for name in one.record), "why"]
    rows = [names, *([_cell(one, name) for name in names] for one in mistakes)]
    if ending == ".tsv":
        return "".join("\t".join(" ".join(cell.split()) for cell in row) + "\n" for row in rows)
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue()


def _cell(mistake: ExplainedMistake, name: str) -> str:
    if name == "why":
        return ", ".join(f"{token} {nats:+.2f}" for token, nats in mistake.why or () if abs(nats) >= 0.005)
    value = mistake.record.get(name, "")
    return f"{value:.4f}" if isinstance(value, float) else str(value)
