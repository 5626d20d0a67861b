"""Folders that hold something: refused before anything is read, whatever the command."""

from pathlib import Path

import pytest

import elman
from tests.cli.lm_folder import call
from tests.tasks import topics


@pytest.fixture
def run(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    topics.table(tmp_path / "t.tsv", 20)
    return lambda *arguments: call(monkeypatch, capsys, *arguments)


def save(folder: Path) -> dict[str, bytes]:
    elman.save(topics.fresh(), folder)
    return read(folder)


def read(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


TRAIN = ("train", "classifier", "--train", "none.tsv")


@pytest.mark.parametrize(
    "command",
    [
        (*TRAIN, "--out", "m"),
        (*TRAIN, "--out", "m", "--seeds", "2"),
        (*TRAIN, "--out", "m", "--curve"),
        (*TRAIN, "--out", "m", "--init", "m"),
        ("average", "n", "n", "--out", "m"),
        ("demo", "classifier", "--out", "m"),
    ],
    ids=" ".join,
)
def test_a_model_is_not_written_over(run, tmp_path, command):
    save(tmp_path / "n")
    before = save(tmp_path / "m")
    done = run(*command)
    said = (
        "elman: m holds a model: give another folder, or replace it by --overwrite (in Python overwrite=True)\n"
    )
    assert (done.code, done.out, done.err) == (1, "", said)
    assert read(tmp_path / "m") == before


def test_a_series_is_refused_before_its_first_training_for_a_folder_of_its_last(run, tmp_path):
    save(tmp_path / "m" / "seed-2")
    done = run("train", "classifier", "--train", "t.tsv", "--out", "m", "--seeds", "3")
    assert done.code == 1
    assert done.err.startswith("elman: m/seed-2 holds a model")
    assert [path.name for path in (tmp_path / "m").iterdir()] == ["seed-2"]


def test_a_mean_may_take_the_place_of_a_model(run, tmp_path):
    save(tmp_path / "m")
    assert run("average", "m", "m", "--out", "m", "--overwrite").code == 0
    assert b"averaged" in read(tmp_path / "m")["metrics.json"]


@pytest.mark.parametrize("command", [TRAIN, ("average", "m", "m"), ("demo", "lm")], ids=" ".join)
def test_an_empty_name_is_not_the_current_folder(run, tmp_path, command):
    done = run(*command, "--out", "")
    assert (done.code, done.err) == (
        1,
        "elman: the name of the folder is empty; write . for the current folder\n",
    )
    assert [path.name for path in tmp_path.iterdir()] == ["t.tsv"]


def test_files_of_others_stay(run, tmp_path):
    (tmp_path / "README.md").write_text("mine")
    done = run("train", "classifier", "--train", "t.tsv", "--out", ".")
    assert done.code == 1
    assert "holds files of others ('README.md', 't.tsv')" in done.err
    assert sorted(read(tmp_path)) == ["README.md", "t.tsv"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("explain", "m", "--out", "t.tsv"), "--out t.tsv: a page ends in .html"),
        (("evaluate", "m", "t.tsv", "--errors", "t.tsv"), "--errors t.tsv is the file that is read"),
        (("predict", "m", "t.tsv", "--out", "t.tsv"), "--out t.tsv is the file that is read"),
    ],
)
def test_a_file_of_data_is_not_written_over(run, tmp_path, command, said):
    save(tmp_path / "m")
    before = (tmp_path / "t.tsv").read_bytes()
    assert said in run(*command).err
    assert (tmp_path / "t.tsv").read_bytes() == before


@pytest.mark.parametrize(
    "command",
    [
        ("compare", "lstm", "--picture", "none/a.png"),
        ("evaluate", "none", "t.tsv", "--reliability", "none/a.png"),
        ("new", "cell", "mine", "--out", "none/mine.py"),
        ("explain", "none", "--out", "none/a.html"),
    ],
)
def test_a_folder_that_is_not_there_is_said_before_anything_is_done(run, command):
    assert "there is no folder none\n" in run(*command).err
