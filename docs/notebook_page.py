"""A notebook as a page: its texts, its code, and what the code showed."""

import json
from pathlib import Path
from typing import Any


def read_notebook(path: Path) -> str:
    """The cells of a notebook in Markdown; pictures are in the page itself."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join(part for cell in cells for part in _show_cell(cell))


def _show_cell(cell: dict[str, Any]) -> list[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return [source]
    return [_block("python", source), *map(_show_output, cell["outputs"])]


def _show_output(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return _block("text", "".join(output["text"]))
    shown = {kind: "".join(value) for kind, value in output["data"].items() if isinstance(value, str | list)}
    if "image/png" in shown:
        return f"![](data:image/png;base64,{shown['image/png'].replace(chr(10), '')})"
    if "text/html" in shown:
        return "\n".join(line.strip() for line in shown["text/html"].splitlines() if line.strip())
    if "text/latex" in shown:
        return _block("math", shown["text/latex"].strip().strip("$"))
    return _block("text", shown["text/plain"])


def _block(language: str, content: str) -> str:
    return f"```{language}\n{content.rstrip()}\n```"
