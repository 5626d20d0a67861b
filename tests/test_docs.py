"""Examples are run: every Python block of the documentation, and what it prints is what is shown.

The blocks of a page share one namespace, top to bottom. A ``text`` block right after a Python block is its
output. Each page runs in a process of its own, without the shape checks of the test run: as a reader's would.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md")), ROOT / "course/README.md"]
NEEDS = {
    "integrations.md": ("sklearn", "spacy")
}  # packages that a page is about; spaCy is not among those of dev
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)

# Reads [file, [line, code] ...] and writes what each block printed.
DRIVER = """
import contextlib, io, json, sys
file, blocks = json.load(sys.stdin)
scope, outputs = {"__name__": "__main__"}, []
for line, code in blocks:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile("\\n" * (line - 1) + code, file, "exec"), scope)
    outputs.append(said.getvalue())
json.dump(outputs, sys.stdout)
"""


class Example(NamedTuple):
    line: int
    code: str
    output: str | None  # None: not shown


def examples(page: Path) -> list[Example]:
    text = page.read_text()
    return [
        Example(text[: found.start(1)].count("\n") + 1, found[1], found[2]) for found in BLOCK.finditer(text)
    ]


@pytest.mark.parametrize("page", [p for p in PAGES if examples(p)], ids=lambda page: page.name)
def test_examples_run_and_print_what_is_shown(page, tmp_path):
    for package in NEEDS.get(page.name, ()):
        pytest.importorskip(package)
    blocks = examples(page)
    done = subprocess.run(
        [sys.executable, "-c", DRIVER],
        input=json.dumps([str(page), [(block.line, block.code) for block in blocks]]),
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    for block, printed in zip(blocks, json.loads(done.stdout), strict=True):
        if block.output is not None:
            assert printed == block.output, f"{page}:{block.line}"


def test_examples_have_the_types_they_say(tmp_path):
    """mypy --strict over all pages, each a file. Its own exceptions: PyTorch's ``backward`` has no types, and a
    page may use a name again, as a notebook does."""
    files = []
    for page in (p for p in PAGES if examples(p)):
        lines: list[str] = []
        for block in examples(page):
            lines += [""] * (block.line - 1 - len(lines)) + block.code.splitlines()
        files.append(tmp_path / f"{re.sub(r'[^a-z]', '_', str(page.relative_to(ROOT)).lower())}_page.py")
        files[-1].write_text("\n".join(lines) + "\n")
    options = ["--strict", "--follow-imports=silent", "--allow-untyped-calls"]
    options += ["--allow-redefinition", "--local-partial-types"]
    cache = f"--cache-dir={ROOT / '.mypy_cache' / 'docs'}"
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, cache, *map(str, files)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout


def links(page: Path) -> list[tuple[Path, str]]:
    """Files, and the places in them, that a page links to; a link to the web is none."""
    found = re.findall(r"\]\(([^)#:]*)(?:#([^):]*))?\)", page.read_text())
    return [((page.parent / file).resolve() if file else page, place) for file, place in found]


def places(page: Path) -> set[str]:
    """The names that headings have in links: small letters and digits, blanks as hyphens."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    for file, place in links(page):
        assert file.exists(), f"{page} links to {file}"
        assert not place or place in places(file), f"{page} links to {place} in {file}"


def test_every_page_can_be_reached_from_the_readme():
    reached, further = set(), {ROOT / "README.md"}
    while further:
        reached |= further
        linked = {file for page in further for file, _ in links(page) if file.suffix == ".md"}
        further = linked - reached
    assert reached >= set(PAGES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_has_a_language_and_an_end(page):
    fences = re.findall(r"^```(.*)$", page.read_text(), re.MULTILINE)
    assert len(fences) % 2 == 0
    assert all(fences[::2]), "an opening fence names its language"
    assert not any(fences[1::2])
