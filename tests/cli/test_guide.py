"""The shell commands of the README and of docs/, each page on small files of its own."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.desk import furnish
from tests.cli.guide import ROOT, Shell, open_shell, shell_blocks

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

# What a page takes as given.
BEFORE = {
    "exposure.md": "elman train seq2seq --train train.en train.de --out models/en-de",
    "shakespeare.md": "elman train lm --train book.txt --tokens chars --out models/shakespeare",
}


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with open_shell() as opened:
        yield opened


@pytest.mark.parametrize("page", [page for page in PAGES if shell_blocks(page)], ids=lambda page: page.name)
def test_every_command_does_what_the_page_says(page: Path, shell: Shell, tmp_path: Path):
    furnish(tmp_path)
    if page.name in BEFORE:
        assert shell.run(BEFORE[page.name], tmp_path).returncode == 0
    shell.run_page(page, tmp_path)


@pytest.mark.parametrize(
    "mistake",
    [
        "elman trian lm --train book.txt --out m",
        "elman train lm --train book.txt --out m --hiden 3",
        "elman train recipes/nothing.toml --out m",
        "elman train recipes/trec.toml --out m --sead 3",
        "elman bench nothing",
        "elman bench recurrence --jason",
        "elman demo nothing",
        "make nothing",
        "pip install '.[nothing]'",
    ],
)
def test_a_command_that_does_not_exist_is_noticed(mistake: str, shell: Shell, tmp_path: Path):
    furnish(tmp_path)
    assert shell.run(mistake, tmp_path).returncode != 0
