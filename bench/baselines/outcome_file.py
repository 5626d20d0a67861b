"""Outcomes in a file of JSON lines, so that an interrupted bench goes on where it was."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

from baselines import Outcome


class OutcomeFile:
    """Outcomes by corpus, system and seed; each is written as soon as it is known."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._known = {outcome.key: outcome for outcome in read_outcomes(path)} if path.exists() else {}

    def __contains__(self, key: tuple[str, str, int]) -> bool:
        return key in self._known

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self._known.values())

    def add(self, outcome: Outcome) -> None:
        """Keep an outcome, also from another thread."""
        with self._lock:
            self._known[outcome.key] = outcome
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(outcome.plain()) + "\n")


def read_outcomes(path: Path) -> list[Outcome]:
    """The outcomes of a file; the last of a key counts where `OutcomeFile` reads them."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Outcome(**json.loads(line)) for line in lines if line.strip()]
