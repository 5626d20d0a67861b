"""Every notebook runs, is what its source says, and is small enough to be read on a web page."""

import re
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")

from course.write import INSTALL, build_notebook, execute, notebook_path, source_files  # noqa: E402

import elman  # noqa: E402
from elman.course.exercise import list_exercises  # noqa: E402

SOURCES = source_files([])
LARGEST = 200_000  # bytes
PATHS = re.compile(r"(?<![\w.])/(?:home|tmp|work|root|usr|Users|content)/")
each = pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)


def committed(source: Path) -> Any:
    return nbformat.read(notebook_path(source), as_version=4)


def outputs(notebook: Any) -> list[Any]:
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def told(output: Any) -> str:
    """All text of an output."""
    texts = [output.get("text", ""), *(v for k, v in output.get("data", {}).items() if k != "image/png")]
    return re.sub(r"base64,[\w+/=]*", "", "".join(texts))


@each
def test_a_notebook_runs_from_top_to_bottom_without_errors_or_warnings(source: Path) -> None:
    notebook = execute(build_notebook(source))
    said = [output.text for output in outputs(notebook) if output.get("name") == "stderr"]
    lines = [line for text in said for line in text.splitlines()]
    usual = ("chosen for ", "baseline (", "no baseline: ", "the baseline is better", "now all ")
    assert [line for line in lines if not line.startswith(usual)] == []


@each
def test_a_notebook_is_what_its_source_says(source: Path) -> None:
    wanted = [(cell.cell_type, cell.source, cell.id) for cell in build_notebook(source).cells]
    assert [(cell.cell_type, cell.source, cell.id) for cell in committed(source).cells] == wanted


@each
def test_a_committed_notebook_was_executed_in_order_and_tells_nothing_of_a_machine(source: Path) -> None:
    notebook = committed(source)
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))
    assert not [output for output in outputs(notebook) if output.get("name") == "stderr"]
    assert not [said for said in map(told, outputs(notebook)) if PATHS.search(said)]
    assert notebook_path(source).stat().st_size < LARGEST


@each
def test_a_notebook_has_pictures_exercises_things_to_change_and_what_comes_next(source: Path) -> None:
    notebook = committed(source)
    text = "\n".join(cell.source for cell in notebook.cells)
    asked = re.findall(r'^check\("([\d.]+)"', text, re.MULTILINE)
    assert asked == [exercise.number for exercise in list_exercises(source.name[:2])]
    assert all(f"### Exercise {number}\n" in text for number in asked)
    assert "## Things to change" in text
    assert "## What comes next" in text
    shown = [key for output in outputs(notebook) for key in output.get("data", {})]
    assert "image/png" in shown or "text/html" in shown


@each
def test_an_exercise_in_a_notebook_is_left_to_the_reader(source: Path) -> None:
    said = [told(output) for output in outputs(committed(source))]
    assert sum(text.count(": your turn. ") for text in said) == len(list_exercises(source.name[:2]))


def test_every_notebook_has_a_source() -> None:
    folder = notebook_path(SOURCES[0]).parent
    assert {path.name for path in folder.glob("*.ipynb")} == {notebook_path(source).name for source in SOURCES}


@pytest.mark.parametrize("clone", ["..", "elman", ""])
def test_the_first_cell_installs_elman_from_a_clone_or_a_release_and_only_where_it_is_missing(
    clone: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr("subprocess.run", lambda command, check: commands.append(command))
    (tmp_path / "course").mkdir()
    monkeypatch.chdir(tmp_path / "course")
    exec(INSTALL, {})
    assert commands == []
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    if clone:
        Path(clone, "src/elman").mkdir(parents=True)
    exec(INSTALL, {})
    folder = (tmp_path / "course" / clone).resolve()
    assert commands[0][1:4] == ["-m", "pip", "install"]
    assert commands[0][-1] == (f"{folder}[course]" if clone else f"elman[course]=={elman.__version__}")
