"""elman tune as a person meets it: what it leaves, that it can be killed and resumed, what it refuses."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from elman.cli import app
from tests.cli.lm_folder import call, store
from tests.tasks.topics import table

TUNE = ["tune", "classifier", "--train", "a.tsv", "--minutes", "90", "--out", "tuned", "--device", "cpu"]
TUNE += ["--hidden", "4", "--epochs", "2", "--set", "training.minutes=0.49"]  # so short that there is one rung


@pytest.fixture
def elman(monkeypatch, capsys, tmp_path):
    pytest.importorskip("optuna")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    table(tmp_path / "a.tsv", 60)
    table(tmp_path / "b.tsv", 20, seed=1)
    return lambda *arguments: call(monkeypatch, capsys, *arguments)


class ForkedTraining(subprocess.Popen):
    """A training in a copy of this process, which has imported everything already."""

    def __init__(self, words: list[str], log: Path) -> None:
        self.returncode: int | None = None
        self.number = os.fork()
        if self.number:
            return
        with open(log, "ab") as output:
            for stream in (1, 2):
                os.dup2(output.fileno(), stream)
        sys.stdout, sys.stderr = (os.fdopen(stream, "w") for stream in (1, 2))
        sys.argv = ["elman", *words[words.index("train") :]]
        code = 1
        try:
            code = app.call()
            sys.stdout.flush()
        finally:
            os._exit(code)

    def poll(self) -> int | None:
        if self.returncode is None:
            ended, status = os.waitpid(self.number, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if ended else None
        return self.returncode


@pytest.fixture
def forked(monkeypatch):
    """Trainings begin at once; that they are processes of their own is tested by those that are killed."""
    monkeypatch.setattr("elman.pipeline.trial_run.start_process", ForkedTraining)


@pytest.mark.skipif(sys.platform == "win32", reason="cannot fork")
@pytest.mark.usefixtures("forked")
def test_a_search_leaves_a_recipe_a_model_a_table_and_a_picture(elman, tmp_path):
    done = elman(*TUNE, "--jobs", "2", "--trials", "2", "--test", "b.tsv")
    assert done.code == 0, done.err
    rows = [*csv.DictReader((tmp_path / "tuned" / "trials.csv").open())]
    assert sorted(row["trial"] for row in rows) == ["0", "1"]
    scores = [float(row["accuracy"]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    header, first, *_ = done.out.splitlines()
    assert header.split()[:3] == ["trial", "training", "accuracy"]
    assert first.split()[0] == rows[0]["trial"]
    assert "the plain settings" in done.out
    assert "training the best settings on all data" in done.err
    metrics = json.loads((tmp_path / "tuned" / "model" / "metrics.json").read_text())
    assert metrics["trained_on"]["examples"] == 60  # those that judged the trials, too
    trained_on = json.loads((tmp_path / "tuned/trials/0/rung-1/metrics.json").read_text())["trained_on"]
    assert trained_on["examples"] == 48
    assert f"test accuracy {metrics['test']['accuracy']:.2f}" in done.out
    assert "test" not in json.loads((tmp_path / "tuned/trials/0/rung-1/metrics.json").read_text())
    recipe = tomllib.loads((tmp_path / "tuned" / "recipe.toml").read_text())
    assert (recipe["model"]["hidden"], recipe["training"]["epochs"]) == (4, 2)
    if "no picture" not in done.err:
        assert (tmp_path / "tuned" / "tune.png").read_bytes().startswith(b"\x89PNG")
    again = elman("train", "tuned/recipe.toml", "--out", "again", "--threads", "1", "--device", "cpu")
    assert again.code == 0, again.err
    one, other = (tmp_path / folder / "model.safetensors" for folder in ("again", "tuned/model"))
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="cannot fork")
@pytest.mark.usefixtures("forked")
def test_with_a_file_to_validate_on_the_model_is_that_of_the_best_trial(elman, tmp_path):
    done = elman(*TUNE, "--jobs", "1", "--trials", "1", "--valid", "b.tsv", "--test", "b.tsv")
    assert done.code == 0, done.err
    metrics = json.loads((tmp_path / "tuned/model/metrics.json").read_text())
    trial = json.loads((tmp_path / "tuned/trials/0/rung-1/metrics.json").read_text())
    assert (metrics["valid"], metrics["trained_on"]) == (trial["valid"], trial["trained_on"])
    assert f"test accuracy {metrics['test']['accuracy']:.2f}" in done.out


@pytest.mark.skipif(sys.platform == "win32", reason="has no signals")
def test_a_search_that_is_killed_or_stopped_goes_on_where_it_was(elman, tmp_path):
    words = [*TUNE, "--jobs", "1", "--trials", "2"]
    killed = subprocess.Popen([sys.executable, "-m", "elman", *words], stderr=subprocess.PIPE, text=True)
    lock = tmp_path / "tuned/trials/1/rung-1/.lock"
    wait_for(lock.exists, killed)
    killed.kill()
    killed.wait()
    child = int(lock.read_text().split()[1]) if lock.exists() else 0
    wait_for(lambda: not is_alive(child))
    first = json.loads((tmp_path / "tuned/trials/0/rung-1/metrics.json").read_text())

    command = [sys.executable, "-m", "elman", *words, "--resume"]
    stopped = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: lock.exists() and f"process {child} " not in lock.read_text(), stopped)
    stopped.send_signal(signal.SIGINT)
    asked = time.monotonic()
    _, said = stopped.communicate()
    assert time.monotonic() - asked < 2 * slowness()
    assert stopped.returncode == 130, said
    assert said.endswith("to resume, run the same command with --resume\n")

    done = elman(*words, "--resume")
    assert done.code == 0, done.err
    assert "trial 1: accuracy" in done.err
    assert "trial 0 (" not in done.err
    assert json.loads((tmp_path / "tuned/trials/0/rung-1/metrics.json").read_text()) == first
    assert len((tmp_path / "tuned" / "trials.csv").read_text().splitlines()) == 3


def wait_for(condition, process: subprocess.Popen | None = None) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        assert process is None or process.poll() is None, process.stderr.read()
        time.sleep(0.02)


def is_alive(process: int) -> bool:
    try:
        os.kill(process or 2**22 + 1, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat")  # one that has ended stays in the table where nobody waits for it
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


def slowness() -> float:
    """How many processes wait for a core: a machine that is busy with other things is slower."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


@pytest.mark.skipif(sys.platform == "win32", reason="cannot fork")
@pytest.mark.usefixtures("forked")
def test_with_folds_a_trial_is_judged_by_their_mean_and_the_best_trained_on_all_data(elman, tmp_path):
    done = elman(*TUNE, "--jobs", "1", "--trials", "1", "--folds", "2")
    assert done.code == 0, done.err
    folds = json.loads((tmp_path / "tuned/trials/0/rung-1/folds.json").read_text())
    mean = folds["scores"]["accuracy"]["mean"]
    assert f"the plain settings are the best of 1 trials: accuracy {mean:.2f} (mean over the folds)" in done.out
    trained = json.loads((tmp_path / "tuned/model/metrics.json").read_text())["trained_on"]["examples"]
    halves = [
        json.loads(path.read_text()) for path in tmp_path.glob("tuned/trials/0/rung-1/fold-*/metrics.json")
    ]
    assert trained > max(half["trained_on"]["examples"] for half in halves)


def test_without_optuna_one_sentence_says_what_to_install(elman, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    done = elman(*TUNE)
    assert (done.code, done.out) == (1, "")
    assert done.err == 'elman: to search for settings, install optuna: pip install "elman[tune]"\n'


@pytest.mark.parametrize("options", [[], ["--overwrite"]])
def test_a_folder_with_a_model_is_refused(elman, tmp_path, options):
    store(tmp_path / "tuned")
    done = elman(*TUNE, *options)
    assert (done.code, done.err) == (1, "elman: tuned holds a model: give another folder\n")


def test_files_of_others_and_other_searches_are_refused(elman, tmp_path):
    (tmp_path / "tuned").mkdir()
    (tmp_path / "tuned" / "recipe.toml").write_text("mine")
    done = elman(*TUNE)
    assert done.code == 1
    assert done.err.startswith(
        "elman: tuned holds files of others ('recipe.toml'): give a new folder, or --overw"
    )
    assert (tmp_path / "tuned" / "recipe.toml").read_text() == "mine"
    (tmp_path / "tuned" / "search.json").write_text("{}")
    assert "tuned holds a search: go on with it by --resume, or replace it by" in elman(*TUNE).err
    wrong = elman(*TUNE, "--out", "other", "--resume")
    assert wrong.err == "elman: other holds no search to resume: leave out --resume, or give its folder\n"
