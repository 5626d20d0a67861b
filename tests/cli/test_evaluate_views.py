"""elman evaluate beyond the scores: mistakes, slices, two models, confusions; elman train --curve."""

import io
import json
import signal
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from elman.cli import main
from elman.cli.evaluation_run import Evaluated
from elman.cli.evaluation_views import EvaluationViews, show_slices
from elman.errors import ConfigError
from elman.inspect.mistakes import ExplainedMistake
from elman.pipeline import train
from elman.tasks.classifier.task import Classifier
from tests.tasks.topics import table


class Done(NamedTuple):
    code: int
    out: str
    err: str


def recipe(folder: Path, **sections: object) -> dict[str, object]:
    sizes = {"hidden": 4, "embedding": 4}
    data = {"train": str(folder / "a.tsv")}
    return {"task": "classifier", "data": data, "model": sizes, "training": {"epochs": 2}, **sections}


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A folder with tables, two classifiers of little skill, m and other, and a language model lm."""
    folder = tmp_path_factory.mktemp("views")
    table(folder / "a.tsv", 60)
    table(folder / "b.tsv", 40, 1)
    (folder / "text.txt").write_text("a text of words\nof a text\n" * 10)
    train(recipe(folder), folder / "m")
    train(recipe(folder, training={"epochs": 1, "seed": 3}), folder / "other")
    lines = {"train": str(folder / "text.txt"), "cache": str(folder / "cache")}
    train(recipe(folder, task="lm", data=lines, model={"hidden": 4}), folder / "lm")
    return folder


@pytest.fixture
def elman(made, monkeypatch, capsys):
    def call(*arguments: str) -> Done:
        monkeypatch.chdir(made)
        monkeypatch.setattr(sys, "argv", ["elman", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code
        return Done(code, *capsys.readouterr())

    return call


def test_errors_are_the_wrong_rows_with_their_lines(elman, made):
    done = elman("evaluate", "m", "b.tsv", "--errors", "e.tsv", "--json")
    wrong = round(40 * (1 - json.loads(done.out)["accuracy"] / 100))
    header, *rows = [line.split("\t") for line in (made / "e.tsv").read_text().splitlines()]
    assert header == ["where", "text", "gold", "predicted", "confidence", "why"]
    assert len(rows) == wrong
    assert f"{wrong:,} mistakes: e.tsv" in done.err
    lines = (made / "b.tsv").read_text().splitlines()
    for where, text, gold, predicted, _, why in rows:
        file, number = where.rsplit(":", 1)
        assert file == "b.tsv"
        assert lines[int(number) - 1] == f"{text}\t{gold}"
        assert predicted != gold
        assert any(reason.split()[0] in text.split() for reason in why.split(", "))
    sure = [float(row[4]) for row in rows]
    assert sure == sorted(sure, reverse=True)


def test_slices_are_printed_and_in_the_json(elman):
    shown, found = (
        elman("evaluate", "m", "b.tsv", "--slices"),
        elman("evaluate", "m", "b.tsv", "--slices", "--json"),
    )
    slices = json.loads(found.out)["slices"]
    assert sum(one["count"] for one in slices if one["by"] == "length") == 40
    for one in slices:
        assert f"{one['slice']}" in shown.out
        assert 0 <= one["accuracy"] <= 100
    assert "by length" in shown.out


def test_two_models_are_compared(elman):
    one, other = (json.loads(elman("evaluate", m, "b.tsv", "--json").out) for m in ("m", "other"))
    found = json.loads(elman("evaluate", "m", "other", "b.tsv", "--json").out)
    accuracy = found["scores"]["accuracy"]
    assert (accuracy["a"], accuracy["b"]) == (one["accuracy"], other["accuracy"])
    assert accuracy["difference"] == pytest.approx(2.5 * (found["only_b_right"] - found["only_a_right"]))
    assert accuracy["low"] <= accuracy["difference"] <= accuracy["high"]
    assert 0 < accuracy["p"] <= 1
    assert (found["a"], found["b"], found["examples"]) == ("m", "other", 40)
    shown = elman("evaluate", "m", "other", "b.tsv").out
    assert f"only A is right: {found['only_a_right']}, only B: {found['only_b_right']}" in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["m", "lm", "b.tsv"], "m holds a classifier, lm a language model"),
        (["m", "other", "m", "b.tsv"], "two models are compared at a time, not 3"),
        (["m", "other", "b.tsv", "--slices"], "for one model"),
        (["m", "b.tsv", "--errors", "e.txt"], ".jsonl"),
        (["m", "b.tsv", "--errors", "no/e.tsv"], "no folder"),
        (["lm", "text.txt", "--errors", "e.tsv"], "elman score"),
    ],
)
def test_what_cannot_be_shown_is_one_sentence(elman, arguments, said):
    done = elman("evaluate", *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert said in done.err


def test_model_folders_without_a_file_are_a_wrong_call(elman):
    done = elman("evaluate", "m", "other")
    assert done.code == 2
    assert "FILE" in done.err


def test_a_curve_is_a_table_a_file_and_a_picture_and_the_model_is_that_of_all_data(elman, made):
    options = ["--train", "a.tsv", "--hidden", "4", "--epochs", "1", "--set", "model.embedding=4"]
    done = elman("train", "classifier", *options, "--out", "c", "--curve")
    plain = elman("train", "classifier", *options, "--out", "plain")
    assert (done.code, plain.code) == (0, 0)
    said = [line for line in done.err.splitlines() if line.startswith("learning curve: ")]
    assert said[:4] == [f"learning curve: {share} % of the data, seed 0" for share in (10, 20, 40, 70)]
    weights = [(made / name / "model.safetensors").read_bytes() for name in ("c", "plain")]
    assert weights[0] == weights[1]
    stored = json.loads((made / "c" / "curve.json").read_text())
    rows = [line.split() for line in done.out.splitlines() if " % " in line]
    assert [row[0] for row in rows] == ["10", "20", "40", "70", "100"]
    assert [int(row[2]) for row in rows] == [point["size"] for point in stored["points"]]
    assert (made / "c" / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert "more data" in done.out or "twice the data" in done.out


def test_a_curve_that_was_interrupted_is_resumed(elman, made, monkeypatch):
    command = [
        "train",
        "classifier",
        "--train",
        "a.tsv",
        "--hidden",
        "4",
        "--epochs",
        "2",
        "--curve",
        "--seeds",
        "2",
    ]
    honest, calls = Classifier.loss, []

    def loss(self, batch, progress):
        calls.append(progress)
        if len(calls) == 12:
            signal.raise_signal(signal.SIGINT)
        return honest(self, batch, progress)

    with monkeypatch.context() as patch:
        patch.setattr(Classifier, "loss", loss)
        patch.setattr("elman.cli.stop_signals._leave", lambda code: None)  # the process of the tests goes on
        stopped = elman(*command, "--out", "cut")
    assert stopped.code == 130
    assert not (made / "cut" / "curve.json").exists()
    resumed, whole = elman(*command, "--out", "cut", "--resume"), elman(*command, "--out", "uncut")
    assert (resumed.code, whole.code) == (0, 0)
    stored = [json.loads((made / name / "curve.json").read_text()) for name in ("cut", "uncut")]
    assert stored[0] == stored[1]
    assert [len(point["scores"]) for point in stored[0]["points"]] == [2] * 5
    assert "±" in whole.out


def test_slices_are_a_table_for_each_way_with_counts_and_scores(capsys):
    length = {"by": "length", "slice": "1 to 5 tokens", "count": 1234, "accuracy": 91.256}
    unseen = {"by": "unseen words", "slice": "none", "count": 7, "accuracy": 50.0}
    show_slices([length, {**length, "slice": "9 tokens", "count": 1}, unseen])
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        *("by length", "n accuracy", "1 to 5 tokens 1,234 91.26", "9 tokens 1 91.26"),
        *("by unseen words", "n accuracy", "none 7 50.00"),
    ]


@pytest.mark.parametrize(
    "asked", [(Path("e.tsv"), False, None), (None, True, None), (None, False, Path("r.png"))]
)
def test_views_are_of_one_model(asked):
    EvaluationViews(None, False, None).reject_all()
    with pytest.raises(
        ConfigError, match=r"^--errors, --slices and --reliability are for one model; leave the"
    ):
        EvaluationViews(*asked).reject_all()


@pytest.mark.parametrize(
    ("whys", "said"), [((None, ()), "2 mistakes, 1 of them explained"), (((), ()), "2 mistakes")]
)
def test_how_many_mistakes_are_explained_is_said(whys, said, tmp_path, monkeypatch, capsys):
    some = [ExplainedMistake({"where": "f:1"}, why) for why in whys]
    monkeypatch.setattr("elman.inspect.mistakes.explain_mistakes", lambda model, judgement: some)
    path = tmp_path / "e.jsonl"
    assert EvaluationViews(path, False, None).show(Evaluated(None, None, None)) == {}
    assert capsys.readouterr().err == f"{said}: {path}\n"
    assert len(path.read_text().splitlines()) == 2
