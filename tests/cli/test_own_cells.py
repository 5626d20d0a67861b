"""A cell of one's own on the command line: written, trained, resumed, trained on, looked at."""

import re
from pathlib import Path

import pytest

from elman.cells import FormulaCell
from elman.cells.code_import import import_object
from elman.cli.cell_template import CELL_FILE
from tests.cli.lm_folder import call

SMALL = ("--tokens", "chars", "--hidden", "6", "--layers", "1", "--set", "model.embedding=6", "--epochs", "1")
CODE = Path(__file__).parents[1] / "own_cells.py"


@pytest.fixture
def elman(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("book.txt").write_text("the cat sat on the mat\nthe dog sat on the cat\n" * 10)
    return lambda *arguments, stdin="": call(monkeypatch, capsys, *arguments, stdin=stdin)


def train(elman, cell: str, out: str, *more: str):
    return elman("train", "lm", "--train", "book.txt", "--cell", cell, "--out", out, *SMALL, *more)


def test_a_new_cell_passes_its_own_tests(elman):
    assert elman("new", "cell", "mine").code == 0
    laws = re.findall(r"def (test_\w+)", Path("mine.py").read_text())
    assert len(laws) == 2
    for law in laws:
        import_object(f"mine.py:{law}")()
    equations = FormulaCell(import_object("mine.py:mine"), 3, 4).equations()
    assert equations[-1] == "h' = (1 - f) ⊙ h + f ⊙ n"


def test_a_new_cell_is_trained_and_its_model_needs_the_file_no_more(elman):
    elman("new", "cell", "mine", "--out", "some.py")
    assert train(elman, "some.py:mine", "m").code == 0
    Path("some.py").unlink()
    before = elman("score", "m", "book.txt")
    assert before.code == 0
    assert "h' = (1 - f) ⊙ h + f ⊙ n" in elman("inspect", "m").out
    assert train(elman, "m/cell.json", "again").code == 0  # the formula as data is a cell, too
    assert elman("score", "again", "book.txt") == before
    more = train(elman, "m/cell.json", "more", "--init", "m")
    assert (more.code, "starts from m" in more.err) == (0, True)
    other = train(elman, "lstm", "other", "--init", "m")
    assert "was trained with 'mine' (formula " in other.err
    assert other.err.endswith("; give --cell m/cell.json\n")


def test_a_run_is_resumed_with_the_same_formula_only(elman):
    Path("mine.py").write_text(CELL_FILE.replace("NAME", "mine"))
    Path("other.py").write_text(CELL_FILE.replace("NAME", "mine").replace("(1 - f) * s.h", "s.h"))
    assert train(elman, "mine.py:mine", "m").code == 0
    changed = train(elman, "other.py:mine", "m", "--resume")
    assert (changed.code, "made with another configuration: cell was 'formula " in changed.err) == (1, True)
    assert train(elman, "m/cell.json", "m", "--resume").code == 0


def test_code_is_given_to_every_verb_that_loads_its_model(elman):
    assert train(elman, f"{CODE}:Recall", "m").code == 0
    for verb in (("score", "m", "book.txt"), ("inspect", "m"), ("evaluate", "m", "book.txt")):
        refused = elman(*verb)
        assert refused.code == 1
        assert f"--cell {CODE}:Recall" in refused.err
        assert elman(*verb, "--cell", f"{CODE}:Recall").code == 0
    given = ("--cell", f"{CODE}:Recall")
    assert elman("generate", "m", "--greedy", *given).code == 0
    assert elman("complete", "m", "the c", *given).code == 0
    assert elman("average", "m", "m", "--out", "mean", *given).code == 0
    unlike = elman("score", "m", "book.txt", "--cell", "lstm")
    assert unlike.code == 1


def test_a_file_that_cannot_be_imported_is_said_with_its_line(elman):
    Path("broken.py").write_text("x = 1\ny = 1 / 0\n")
    done = train(elman, "broken.py:x", "m")
    assert (done.code, done.out) == (1, "")
    assert done.err == "elman: model.cell: broken.py:2: ZeroDivisionError: division by zero\n"
    assert not Path("m").exists()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("lstm", "'lstm' is a cell of Elman's"),
        ("scan", "'scan' is a word of the file itself"),
        ("a-b", "'a-b' cannot be the name of a cell"),
        ("mine", "mine.py is there already"),
    ],
)
def test_a_new_cell_takes_no_name_that_is_taken(elman, name, why):
    Path("mine.py").write_text("")
    done = elman("new", "cell", name)
    assert done.code == 1
    assert why in done.err
    assert Path("mine.py").read_text() == ""


def test_compare_takes_a_cell_of_ones_own(elman):
    Path("mine.py").write_text(CELL_FILE.replace("NAME", "mine"))
    done = elman("compare", "mine.py:mine", "--no-picture", "--minutes", "0.01")
    assert done.code == 0
    assert "mine" in done.out
