"""Names that are not UTF-8, and a closed standard output: every verb does its work, or says one sentence."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import elman
from elman.errors import printable
from tests.tasks import topics

NAME = os.fsdecode(b"n\xe9\xff")
QUICK = ("--minutes", "0.01")


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("names")
    elman.save(topics.fresh(), folder / NAME)
    topics.table(folder / f"{NAME}.tsv", 120)
    return folder


def run(place: Path, *words: str, **options) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "elman", *words]
    return subprocess.run(command, cwd=place, capture_output=True, timeout=120, check=False, **options)


@pytest.mark.parametrize(
    ("words", "made"),
    [
        (("explain", NAME, "--out", f"{NAME}.html"), f"{NAME}.html"),
        (("average", NAME, NAME, "--out", f"{NAME}-mean"), f"{NAME}-mean/config.json"),
        (("inspect", NAME, "--text", "when is it", "--out", f"{NAME}-plots"), f"{NAME}-plots"),
        (("new", "cell", "mine", "--out", f"{NAME}.py"), f"{NAME}.py"),
        (
            ("compare", "lstm", "--text", f"{NAME}.tsv", "--minutes", "0.01", "--picture", f"{NAME}.png"),
            f"{NAME}.png",
        ),
    ],
    ids=lambda words: words[0] if isinstance(words, tuple) else "",
)
def test_a_name_is_bytes(place, words, made):
    done = run(place, *words)
    assert done.returncode == 0, done.stderr
    assert (place / made).exists()


def test_a_cell_may_lie_in_a_file_of_any_name(place):
    assert run(place, "new", "cell", "strange", "--out", f"{NAME}2.py").returncode == 0
    written = ast.parse((place / f"{NAME}2.py").read_bytes())
    assert (
        f"pytest {printable(NAME)}2.py" in ast.get_docstring(written).encode().decode()
    )  # so Python 3.13 wants it
    words = ("train", "classifier", "--train", f"{NAME}.tsv", "--cell", f"{NAME}2.py:strange", "--epochs", "1")
    done = run(place, *words, "--out", "own")
    assert done.returncode == 0, done.stderr


def test_a_search_says_that_its_recipes_are_utf_8(place):
    words = ("--train", f"{NAME}.tsv", "--minutes", "0.1", "--out", "tuned")
    done = run(place, "tune", "classifier", *words)
    assert done.returncode == 1
    assert b"is not UTF-8, as the names in a recipe are; rename it" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("words", [("predict", NAME, f"{NAME}.tsv"), ("inspect", NAME), ("recipes",)])
def test_results_that_nobody_wants_are_not_missed(place, words):
    done = run(place, *words, preexec_fn=lambda: os.close(1))
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr


def test_a_text_is_utf_8_whatever_the_locale_says(place):
    ascii_only = {**os.environ, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    done = run(place, "explain", NAME, "--out", "a.html", "--text", "when is the café", env=ascii_only)
    assert done.returncode == 0, done.stderr
    assert "café" in (place / "a.html").read_text("utf-8")
