"""The modules of the page as one script: in the order of their imports, without ``import`` and ``export``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class)\b)", re.MULTILINE)
_COMMENT = re.compile(r"^\s*(?://[^\n]*|/\*\*.*?\*/)\n", re.MULTILINE | re.DOTALL)


def join_scripts(folder: Path, entry: str, printed: Mapping[str, str]) -> str:
    """What ``entry`` and all that it imports are, as one module; ``printed`` has those that are no files."""
    done: dict[str, str] = {}

    def visit(name: str) -> None:
        if name in done:
            return
        source = printed[name] if name in printed else (folder / name).read_text("utf-8")
        done[name] = ""  # seen: functions of modules that import one another are hoisted
        for needed in _IMPORT.findall(source):
            visit(needed)
        del done[name]
        done[name] = _COMMENT.sub("", _EXPORT.sub("", _IMPORT.sub("", source)))

    visit(entry)
    return "\n".join(done.values())
