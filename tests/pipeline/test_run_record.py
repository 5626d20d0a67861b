"""run.json: what a model was made of, by what, where and how long."""

import hashlib
import json
import subprocess
from pathlib import Path

import pytest

import elman
from elman.pipeline import run_recipe
from elman.pipeline.machine import git_revision, hide_home
from elman.pipeline.recipe import build
from elman.pipeline.run_record import summarize_run
from elman.training import training_loop
from tests.tasks.topics import TINY, table


def recipe(folder: Path, **training):
    model = TINY | {"encoder": "bag"}
    data = {"train": table(folder / "train.tsv", 40), "valid": table(folder / "valid.tsv", 10, seed=1)}
    return build({"task": "classifier", "data": data, "model": model, "training": {"updates": 4, **training}})


def read(folder: Path):
    return json.loads((folder / "run.json").read_text())


def test_a_run_says_what_it_was_made_of(tmp_path, monkeypatch):
    run_recipe(recipe(tmp_path, seed=7), tmp_path / "m", command="elman train x")
    record = read(tmp_path / "m")
    file = tmp_path / "train.tsv"
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert record["seed"] == 7
    read_as = {"rows": 40, "columns": {"text": "text", "label": "label"}}
    assert record["data"]["train"] == [
        {"file": str(file), "sha256": digest, "bytes": file.stat().st_size, **read_as}
    ]
    assert [*record["data"]] == ["train", "valid"]
    (session,) = record["sessions"]
    assert (session["command"], session["updates"], session["finished"]) == ("elman train x", 4, True)
    assert session["elman"] == elman.__version__
    assert {"torch", "python", "date", "seconds"} <= session.keys()
    assert {"cpu", "cores", "threads"} <= session["machine"].keys()
    card = (tmp_path / "m" / "README.md").read_text()
    assert f"- run: {summarize_run(record)}\n" in card
    assert "Made by `elman train x`" in card


def test_a_resumed_run_adds_a_session(tmp_path, monkeypatch):
    chosen = recipe(tmp_path)

    def cut(*arguments, **options):
        for event in training_loop.fit(*arguments, **options):
            yield event
            if getattr(event, "due", False):
                raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("elman.pipeline.train_recipe.fit", cut)
        with pytest.raises(KeyboardInterrupt):
            run_recipe(recipe(tmp_path, evaluate_every=2), tmp_path / "m", command="first")
    assert [s["command"] for s in read(tmp_path / "m")["sessions"]] == ["first"]
    assert "seconds" not in read(tmp_path / "m")["sessions"][0], "a killed session has no end"
    run_recipe(recipe(tmp_path, evaluate_every=2), tmp_path / "m", resume=True, command="second")
    assert [s["command"] for s in read(tmp_path / "m")["sessions"]] == ["first", "second"]
    run_recipe(chosen, tmp_path / "m", command="anew", overwrite=True)
    assert [s["command"] for s in read(tmp_path / "m")["sessions"]] == ["anew"]


def test_a_model_trained_in_python_takes_its_record_with_it(tmp_path):
    rows = [("when was it", "time"), ("where is it", "place")] * 10 + [("what year", "time")]
    model = elman.Classifier.train(rows, valid=rows[:2], epochs=1, recipe={"model": TINY})
    model.save(tmp_path / "a")
    elman.load(tmp_path / "a").save(tmp_path / "b")
    assert read(tmp_path / "a") == read(tmp_path / "b")
    assert read(tmp_path / "a")["sessions"][0]["command"] == "Python"
    assert read(tmp_path / "a")["data"]["train"][0]["rows"] == 21
    assert "Made in Python" in (tmp_path / "a" / "README.md").read_text()


def test_nobody_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "jane"))
    (tmp_path / "jane").mkdir()
    run_recipe(recipe(tmp_path / "jane"), tmp_path / "m")
    assert "jane" not in (tmp_path / "m" / "run.json").read_text()
    assert read(tmp_path / "m")["data"]["train"][0]["file"] == "~/train.tsv"
    assert hide_home(str(tmp_path / "janet" / "x")) == str(tmp_path / "janet" / "x")


def test_the_revision_is_that_of_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert git_revision() is None
    author = ["-c", "user.name=x", "-c", "user.email=x@y"]
    (tmp_path / "a").write_text("1")
    for command in (["init", "-q"], ["add", "a"], [*author, "commit", "-qm", "x"]):
        subprocess.run(["git", *command], check=True)
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert git_revision() == head
    (tmp_path / "a").write_text("2")
    assert git_revision() == f"{head}-dirty"


def test_no_git_is_no_revision(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert git_revision() is None
