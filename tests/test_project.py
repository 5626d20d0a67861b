"""What holds for the project as a whole: one version, a site that builds, GPU tests that need little."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import elman
from tests.gpu import Part, gpu_files

ROOT = Path(__file__).parents[1]
DEVELOPMENT = {"hypothesis", "jaxtyping", "beartype", "keras", "onnx", "click", "rich", "sacrebleu"}


def run(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_nothing_that_a_run_left_behind_is_part_of_the_project():
    """At the top there are pages, settings and nothing else."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    top = {Path(name) for name in listed.stdout.splitlines() if "/" not in name}  # none without a repository
    assert {path.suffix or path.name for path in top} <= {
        *(".md", ".toml", ".yml", ".yaml", ".cff"),
        *("LICENSE", "Makefile", ".gitignore"),
    }


def test_the_version_stands_in_one_place():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" not in project["project"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/elman/__init__.py"
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == elman.__version__
    assert run("elman", "--version") == f"elman, version {elman.__version__}\n"


def test_the_site_builds_and_its_links_and_anchors_lead_somewhere(tmp_path):
    run("mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site"))
    assert 'id="elman.cells.lstm.LSTM"' in (tmp_path / "site/api/elman.cells/index.html").read_text()
    lectures = (tmp_path / "site/lectures/index.html").read_text()
    assert "<msub><mi>s</mi><mn>0</mn></msub>" in lectures
    assert not re.search(r"\$\S[^<]*\$|<p><math", lectures)
    for notebook in ROOT.glob("course/*.ipynb"):
        assert (tmp_path / "site" / "course" / notebook.stem / "index.html").exists()


def test_every_page_is_in_the_navigation_of_the_site():
    listed = set(navigation_pages())
    assert listed >= {path.name for path in (ROOT / "docs").glob("*.md")}


def test_every_package_that_says_what_is_public_has_an_api_page():
    packages = (ROOT / "src/elman").glob("*/__init__.py")
    public = {path.parent.name for path in packages if "__all__" in path.read_text()}
    assert {f"api/elman.{name}.md" for name in public} <= set(navigation_pages())


def navigation_pages() -> list[str]:
    """The files that mkdocs.yml lists."""
    entries = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]
    pages = []
    while entries:
        entry = entries.pop()
        entries += entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else []
        pages += [entry] if isinstance(entry, str) else []
    return pages


def test_every_extra_that_a_message_names_exists_and_is_quoted_as_every_shell_takes_it():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for path in (ROOT / "src").rglob("*.py"):
        for before, extra, after in re.findall(r"pip install (.?)elman\[([^\]]+)\](.?)", path.read_text()):
            assert (before, after) == ('"', '"'), path
            assert extra in extras or extra == "{extra}", path


def test_gpu_tests_need_no_tool_that_a_gpu_machine_may_lack():
    assert gpu_files()
    for file in gpu_files():
        assert not imported_packages(Path(file)) & DEVELOPMENT, file


def imported_packages(path: Path, seen: frozenset[Path] = frozenset()) -> set[str]:
    """Top-level packages that a test file imports, by itself or by way of other files of tests/."""
    packages: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            packages.add(name.split(".")[0])
            other = ROOT / (name.replace(".", "/") + ".py")
            if name.startswith("tests.") and other.exists() and other not in seen:
                packages |= imported_packages(other, seen | {path})
    return packages


@pytest.mark.parametrize("count", [1, 2, 5])
def test_each_gpu_test_is_in_one_part(count):
    class Item:
        def __init__(self, marked):
            self.marked = marked

        def get_closest_marker(self, name):
            return name if self.marked and name == "gpu" else None

    items, found = [Item(number % 3 > 0) for number in range(20)], []
    for number in range(count):
        Part(number, count).pytest_collection_modifyitems(part := items.copy())
        found += part
    assert sorted(map(id, found)) == sorted(id(item) for item in items if item.marked)
