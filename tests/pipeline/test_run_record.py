"""run.json: what a model was made of, by what, where and how long."""

import hashlib
import json
import os
import platform
import subprocess
from pathlib import Path

import pytest
import torch

import elman
from elman.pipeline import run_recipe
from elman.pipeline.machine import count_cores, describe_machine, git_revision, hide_home, software_versions
from elman.pipeline.recipe import build
from elman.pipeline.run_record import RunRecord, summarize_run
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
    assert "Made by `first`" in (tmp_path / "m" / "README.md").read_text()
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


SESSION = {"date": "2026-11-19T08:00:00+00:00", "elman": "1", "torch": "2", "python": "3", "seconds": 70.0}


def test_a_card_has_the_day_the_time_of_all_sessions_and_the_machine_of_the_last():
    one = SESSION | {"machine": {"threads": 1, "cpu": "Z80"}}
    versions = "elman 1, torch 2, Python 3; seed 7"
    assert (
        summarize_run({"sessions": [one], "seed": 7})
        == f"2026-11-19, 1 min 10 s on 1 thread of Z80; {versions}"
    )
    killed = {"date": "2026-11-18T23:00:00+00:00"}
    two = one | {"machine": {"threads": 2, "cpu": "Z80"}}
    assert summarize_run({"sessions": [one, killed, two], "seed": 7}) == (
        f"2026-11-19, 2 min 20 s, in 3 sessions on 2 threads of Z80; {versions}"
    )
    gpu = one | {"machine": {"threads": 2, "cpu": "Z80", "gpu": "H200"}}
    assert summarize_run({"sessions": [gpu], "seed": 7}) == f"2026-11-19, 1 min 10 s on H200; {versions}"


def test_a_run_that_went_on_took_as_long_as_all_its_sessions(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("elman.pipeline.run_record.time.monotonic", lambda: now[0])
    (tmp_path / "run.json").write_text(json.dumps({"sessions": [{"seconds": 5.0}, {}], "chosen": {"a": 1}}))
    record = RunRecord(tmp_path, {"command": "x"}, 7, None)
    assert record.read_chosen() == {"a": 1}
    record.begin({}, resumed=True)
    now[0] = 103.04
    assert record.elapsed == pytest.approx(8.04)
    assert record.finish(9)["sessions"] == [{"seconds": 5.0}, {}, read(tmp_path)["sessions"][2]]
    assert read(tmp_path)["sessions"][2] == {"command": "x", "seconds": 3.0, "finished": True, "updates": 9}
    anew = RunRecord(tmp_path, {"command": "y"}, 7, Path.home() / "m")
    anew.begin({}, resumed=False)
    anew.finish()
    (session,) = read(tmp_path)["sessions"]
    assert (session["finished"], "updates" in session, read(tmp_path)["init"]) == (False, False, "~/m")


def test_the_machine_is_described_by_its_cores_and_how_many_of_them_compute(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    found = describe_machine("cpu")
    assert found.keys() == {"system", "cpu", "cores", "threads"}
    assert (found["cores"], found["threads"]) == (count_cores(), torch.get_num_threads())
    assert found["system"].startswith(platform.system())
    if hasattr(os, "sched_getaffinity"):
        assert count_cores() == len(os.sched_getaffinity(0))
        monkeypatch.delattr(os, "sched_getaffinity")
    assert count_cores() == (os.cpu_count() or 1)
    if (known := Path("/proc/cpuinfo")).exists() and "model name" in known.read_text():
        assert f"model name\t: {found['cpu']}\n" in known.read_text()
    for size, processes in (("1", None), ("2", 2)):
        monkeypatch.setenv("WORLD_SIZE", size)
        assert describe_machine("cpu").get("processes") == processes
    assert software_versions() == {
        "elman": elman.__version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
    }
