"""The table of docs/defaults.md, written from the rules: ``python docs/default_table.py`` writes it anew."""

import inspect
import re
from pathlib import Path
from typing import Any

from elman.config import to_plain
from elman.number_format import format_number
from elman.pipeline.default_rules import RULES, Rule

PAGE = Path(__file__).with_name("defaults.md")
TABLE = re.compile(r"(?<=<!-- rules -->\n\n)(?:\|.*\n)*")


def write_table(rules: tuple[Rule, ...] = RULES) -> str:
    """A row for each rule: its task, when it holds, what it chooses."""
    rows = ["| task | where | chosen |", "|---|---|---|"]
    for rule in rules:
        chosen = ", ".join(f"`{key}` {_describe(value)}" for key, value in rule.sets.items())
        cells = (rule.task or "all", rule.says, chosen)
        rows.append(f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |")
    return "\n".join(rows) + "\n"


def _describe(value: Any) -> str:
    """A value, or of a function of the facts the first line of its docstring."""
    if callable(value):
        return (inspect.getdoc(value) or value.__name__).partition("\n")[0].rstrip(".")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return format_number(value)
    return f"`{to_plain(value)}`"


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(TABLE.sub(lambda _: write_table(), text), encoding="utf-8")
