"""Execute the notebooks and write them: ``python course/write.py`` all, ``python course/write.py 01 04`` these.

A notebook is written in ``course/source/NN-name.py``: ``# %% [markdown]`` begins a cell of text, ``# %%`` a
cell of code. The same source gives the same file, cell for cell.
"""

from __future__ import annotations

import re
import sys
import time
from base64 import b64decode, b64encode
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import elman
from elman.inspect.inline_pictures import shrink_png

COURSE = Path(__file__).parent
SECONDS = 600  # for one cell, at most

INSTALL = f"""\
# Installs Elman where it is missing, as in Colab or Binder. Elsewhere this cell does nothing.
import importlib.util
import subprocess
import sys
from pathlib import Path

if importlib.util.find_spec("elman") is None:
    clones = [folder for folder in (Path(".."), Path("elman")) if (folder / "src/elman").exists()]
    elman_course = f"{{clones[0].resolve()}}[course]" if clones else "elman[course]=={elman.__version__}"
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", elman_course], check=True)"""


def source_files(numbers: list[str]) -> list[Path]:
    """The sources of these notebooks, or of all."""
    return [path for path in sorted(COURSE.glob("source/*.py")) if not numbers or path.name[:2] in numbers]


def notebook_path(source: Path) -> Path:
    """Where the notebook of a source lies."""
    return COURSE / f"{source.stem}.ipynb"


def read_cells(source: Path) -> list[Any]:
    """The cells of a source, the installation after the opening text."""
    parts = re.split(r"^# %%(.*)\n", source.read_text(encoding="utf-8"), flags=re.MULTILINE)
    cells = [_cell(kind.strip(), body.strip("\n")) for kind, body in zip(parts[1::2], parts[2::2], strict=True)]
    cells.insert(1, new_code_cell(INSTALL))
    for place, cell in enumerate(cells):
        cell.id = f"{source.name[:2]}-{place:03}"
    return cells


def _cell(kind: str, body: str) -> Any:
    if kind == "[markdown]":
        lines = (line.removeprefix("#").removeprefix(" ") for line in body.splitlines())
        return new_markdown_cell("\n".join(lines))
    return new_code_cell(body)


def build_notebook(source: Path) -> Any:
    """The notebook of a source, not executed."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(cells=read_cells(source), metadata={"kernelspec": kernel})


def execute(notebook: Any) -> Any:
    """Run all cells of a notebook in an empty folder."""
    with TemporaryDirectory() as folder:
        where = {"metadata": {"path": folder}}
        quiet = ["--log-level=ERROR"]
        NotebookClient(
            notebook, timeout=SECONDS, record_timing=False, resources=where, extra_arguments=quiet
        ).execute()
    notebook.metadata.pop("language_info", None)  # it holds the version of Python
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if "outputs" in cell:
            cell.outputs = _join_streams(cell.outputs)
        for output in cell.get("outputs", []):
            _shrink_picture(output)
    return notebook


def _join_streams(outputs: list[Any]) -> list[Any]:
    """Text that came in several pieces as one: where it is cut depends on the time."""
    joined: list[Any] = []
    for output in outputs:
        if joined and "name" in output and output.get("name") == joined[-1].get("name"):
            joined[-1].text += output.text
        else:
            joined.append(output)
    return joined


def _shrink_picture(output: Any) -> None:
    data = output.get("data", {})
    if "image/png" in data:
        data["image/png"] = b64encode(shrink_png(b64decode(data["image/png"]))).decode()


def main(numbers: list[str]) -> None:
    """Execute and write these notebooks, or all."""
    for source in source_files(numbers):
        began = time.perf_counter()
        notebook = execute(build_notebook(source))
        nbformat.write(notebook, notebook_path(source))
        size = notebook_path(source).stat().st_size / 1000
        print(f"{notebook_path(source).name}: {time.perf_counter() - began:.1f} s, {size:.0f} KB")


if __name__ == "__main__":
    main(sys.argv[1:])
