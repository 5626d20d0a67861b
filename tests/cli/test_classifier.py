"""Train, evaluate and predict as a person meets them: streams, options, exit codes."""

import io
import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from elman.cli import main
from elman.tasks.classifier.task import Classifier
from tests.tasks.topics import examples, table

QUICK = ["--hidden", "8", "--epochs", "8", "--batch", "64", "--dropout", "0", "--lr", "0.01"]
TINY = ["--hidden", "4", "--epochs", "1", "--batch", "64"]


class Done(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A folder with two tables and a model m trained on them, in a process of its own."""
    folder = tmp_path_factory.mktemp("toy")
    table(folder / "a.tsv", 300)
    table(folder / "b.tsv", 40, 1)
    command = ["train", "classifier", "--train", "a.tsv", "--valid", "b.tsv", "--out", "m"]
    done = subprocess.run(
        [sys.executable, "-m", "elman", *command, *QUICK],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (folder / "said.json").write_text(json.dumps([done.stdout, done.stderr]))
    return folder


@pytest.fixture
def elman(made, monkeypatch, capsys):
    """The command in this process, called in the folder of ``made``."""

    def call(*arguments: str, stdin: str = "") -> Done:
        monkeypatch.chdir(made)
        monkeypatch.setattr(sys, "argv", ["elman", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code
        return Done(code, *capsys.readouterr())

    return call


def test_training_learns_and_says_results_on_stdout_and_progress_on_stderr(made):
    out, err = json.loads((made / "said.json").read_text())
    scores = dict(line.rsplit(" ", 1) for line in out.splitlines())
    assert float(scores["valid accuracy"]) > 90
    assert err.splitlines()[-3:] == [
        "model: m",
        'next: echo "a text of yours" | elman predict m --top 3',
        "a table: elman predict m new.tsv --out answers.tsv",
    ]
    assert "Warning" not in err


def test_evaluate_prints_scores_each_label_and_the_confusion(elman):
    done = elman("evaluate", "m", "b.tsv")
    assert done.code == 0
    assert done.err == 'read 40 rows from b.tsv: text = "text", label = "label" (2 labels)\n'
    lines = done.out.splitlines()
    assert re.fullmatch(r"accuracy 9\d\.\d\d|accuracy 100\.00", lines[0])
    assert "examples 40" in lines
    at = next(i for i, line in enumerate(lines) if line.startswith("confusion"))
    counts = [[int(n) for n in line.split()[1:]] for line in lines[at + 2 :]]
    assert [sum(row) for row in counts] == [20, 20]


def test_evaluate_json_is_one_object_and_nothing_else(elman):
    done = elman("evaluate", "m", "b.tsv", "--json")
    assert (done.code, done.out.count("\n")) == (0, 1)
    scores = json.loads(done.out)
    assert {"accuracy", "macro_f1", "examples"} <= scores.keys()
    assert scores["examples"] == 40
    assert 90 < scores["accuracy"] <= 100
    counts = scores["confusion"]["counts"]
    assert 100 * sum(row[i] for i, row in enumerate(counts)) / 40 == scores["accuracy"]


def test_a_line_in_is_a_line_out(elman, made):
    lines = ["when is the year", "a river in a town", "", "  ", "month"]
    (made / "texts.txt").write_text("".join(f"{line}\n" for line in lines))
    done = elman("predict", "m", "texts.txt")
    assert (done.code, done.err) == (0, "")
    labels = done.out.splitlines()
    assert len(labels) == len(lines)
    assert [labels[0], labels[1], labels[4]] == ["time", "place", "time"]
    text = (made / "texts.txt").read_text()
    assert elman("predict", "m", stdin=text).out == done.out
    assert elman("predict", "m", "-", stdin=text).out == done.out


def test_a_single_empty_line_has_a_label_too(elman):
    assert elman("predict", "m", stdin="\n").out in ("time\n", "place\n")


def test_more_lines_than_are_run_together_come_out_in_order(elman):
    some = examples(1100, seed=4)
    done = elman("predict", "m", stdin="".join(f"{e.text}\n" for e in some))
    right = [e.label == got for e, got in zip(some, done.out.splitlines(), strict=True)]
    assert sum(right) > 0.9 * len(right)


def test_top_prints_the_likeliest_labels_with_their_probabilities(elman):
    done = elman("predict", "m", "--top", "2", stdin="when\n")
    first, second = (cell.split() for cell in done.out.rstrip("\n").split("\t"))
    assert (first[0], second[0]) == ("time", "place")
    assert float(first[1]) + float(second[1]) == pytest.approx(1, abs=2e-4)
    assert elman("predict", "m", "--top", "9", stdin="when\n").out == done.out


def test_predict_json_has_the_probability_of_every_label(elman):
    done = elman("predict", "m", "--json", stdin="when\nä river\n")
    first, second = map(json.loads, done.out.splitlines())
    assert first["label"] == "time"
    assert second["text"] == "ä river"
    assert sum(first["probabilities"].values()) == pytest.approx(1)


def test_set_reaches_any_key(elman, made):
    sets = ["model.cell=gru", "training.weight_decay=0", "model.pool=mean"]
    arguments = [part for text in sets for part in ("--set", text)]
    assert elman("train", "classifier", "--train", "a.tsv", "--out", "s", *TINY, *arguments).code == 0
    config = json.loads((made / "s" / "config.json").read_text())
    assert (config["model"]["cell"], config["model"]["pool"]) == ("gru", "mean")
    assert config["training"]["weight_decay"] == 0
    assert config["model"]["hidden"] == 4, "and so do flags"


def test_a_recipe_is_trained_and_overridden(elman, made):
    (made / "r.toml").write_text(
        "task = 'classifier'\n[data]\ntrain = 'a.tsv'\n[model]\nhidden = 5\n[training]\nepochs = 1\n"
    )
    assert elman("train", "r.toml", "--out", "r", "--set", "model.layers=2").code == 0
    model = json.loads((made / "r" / "config.json").read_text())["model"]
    assert (model["hidden"], model["layers"]) == (5, 2)


def test_seeds_give_mean_and_spread(elman, made):
    train = ["train", "classifier", "--train", "a.tsv", "--out", "seeds", *TINY, "--seeds", "2"]
    done = elman(*train)
    found = re.search(r"valid accuracy ([\d.]+) ± ([\d.]+) \(2 seeds\)", done.out)
    both = [
        json.loads((made / "seeds" / f"seed-{i}" / "metrics.json").read_text())["valid"]["accuracy"]
        for i in (0, 1)
    ]
    assert float(found[1]) == pytest.approx(sum(both) / 2, abs=0.01)
    assert float(found[2]) == pytest.approx(abs(both[0] - both[1]) / 2**0.5, abs=0.01)
    again = elman(*train[:-1], "3", "--resume")
    assert again.code == 0, "two are done, one has not begun"
    assert "(3 seeds)" in again.out
    found = json.loads((made / "seeds" / "seeds.json").read_text())
    assert (found["seeds"], len(found["runs"])) == (3, 3)
    best = f"best seed: {found['best']['seed']} (valid accuracy"
    assert best in again.err
    assert f"in seeds/{found['best']['folder']}" in again.err


def test_ctrl_c_saves_says_how_to_go_on_and_is_exit_code_130(elman, made, monkeypatch):
    train = ["train", "classifier", "--train", "a.tsv", *TINY]
    honest = Classifier.loss

    def loss(self, batch, progress):
        if progress > 0.5:
            signal.raise_signal(signal.SIGINT)
        return honest(self, batch, progress)

    with monkeypatch.context() as patch:
        patch.setattr(Classifier, "loss", loss)
        patch.setattr("elman.cli.stop_signals._leave", lambda code: None)  # the process of the tests goes on
        stopped = elman(*train, "--out", "cut")
    assert (stopped.code, stopped.out) == (130, "")
    assert stopped.err.endswith("to resume, run the same command with --resume\n")
    assert elman("predict", "cut").code == 1
    resumed, whole = elman(*train, "--out", "cut", "--resume"), elman(*train, "--out", "whole")
    assert (resumed.code, resumed.out) == (0, whole.out)
    weights = [(made / name / "model.safetensors").read_bytes() for name in ("cut", "whole")]
    assert weights[0] == weights[1]


TRAIN = ["train", "classifier", "--out", "x", "--train"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*TRAIN, "a.tsv", "--set", "model.hiden=3"], "model.hiden"),
        ([*TRAIN, "a.tsv", "--set", "nonsense"], "'nonsense'"),
        ([*TRAIN, "a.tsv", "--cell", "lstmm"], "lstmm"),
        ([*TRAIN, "a.tsv", "--hidden", "0"], "--hidden is 0; it must be from 1"),
        ([*TRAIN, "a.tsv", "--seeds", "0"], "--seeds is 0; it must be from 1"),
        (["predict", "m", "--top", "0"], "--top is 0; it must be from 1"),
        ([*TRAIN, "a.tsv", "--tokens", "letters"], "tokens.kind"),
        ([*TRAIN, "nothing.tsv"], "nothing.tsv"),
        ([*TRAIN, "a.tsv", "--text", "body"], "a.tsv:1: "),
        ([*TRAIN, "a.tsv", "--text", "3", "--label", "2"], "a.tsv:1: "),
        ([*TRAIN, "bad.tsv"], "bad.tsv:3: "),
        ([*TRAIN, "a.tsv", "--valid", "strange.tsv"], "strange.tsv:2: unknown label 'who'"),
        ([*TRAIN, "a.tsv", "--vectors", "nothing.vec"], "nothing.vec"),
        ([*TRAIN, "a.tsv", "--resume"], "resume"),
        ([*TRAIN, "a.tsv", "--init", "nowhere"], "nowhere"),
        (["train", "nothing.toml", "--out", "x"], "nothing.toml"),
        (["train", "bad.toml", "--out", "x"], "bad.toml: unknown key 'model.hiden'"),
        (["evaluate", "m", "strange.tsv"], "strange.tsv:2: unknown label 'who'"),
        (["evaluate", "m", "nothing.tsv"], "nothing.tsv"),
        (["evaluate", "nowhere", "b.tsv"], "nowhere"),
        (["predict", "nowhere"], "nowhere"),
        (["predict", "m", "nothing.txt"], "nothing.txt"),
        (["predict", "m", "latin.txt"], "latin.txt:1: "),
    ],
)
def test_a_mistake_is_one_line_on_stderr_and_exit_code_1(elman, made, arguments, said):
    (made / "bad.tsv").write_text("text\tlabel\na\tx\nb\n")
    (made / "strange.tsv").write_text("text\tlabel\na\twho\n")
    (made / "bad.toml").write_text("task = 'classifier'\n[model]\nhiden = 3\n")
    (made / "latin.txt").write_bytes("caf\xe9\n".encode("latin-1"))
    done = elman(*arguments)
    assert done.code == 1
    assert done.out == ""
    (mistake,) = (line for line in done.err.splitlines() if not line.startswith(("read ", "chosen for ")))
    assert mistake.startswith("elman: ")
    assert said in mistake
    assert not (made / "x" / "config.json").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*TRAIN, "a.tsv", "--hiden", "3"], "--hiden"),
        ([*TRAIN, "a.tsv", "--hidden", "many"], "'many'"),
        ([*TRAIN, "a.tsv", "--device", "toaster"], "'toaster'"),
        (["train", "classifier", "--train", "a.tsv"], "--out"),
        (["train", "poet"], "'poet'"),
        (["evaluate", "m"], "FILE..."),
        (["predict"], "DIR"),
    ],
)
def test_a_wrong_call_is_exit_code_2(elman, arguments, said):
    done = elman(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert said in done.err
