"""The targets of all files ``fuzz_*.py``."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from tests.campaign.harness import Target


def load_targets() -> dict[str, Target]:
    """Every target by its name."""
    found: dict[str, Target] = {}
    for path in sorted(Path(__file__).parent.glob("fuzz_*.py")):
        targets = import_module(f"tests.campaign.{path.stem}").TARGETS
        assert not found.keys() & targets.keys(), f"{path.name}: a name of these targets is taken: {[*targets]}"
        found |= targets
    return found
