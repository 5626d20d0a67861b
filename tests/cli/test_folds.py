"""elman train --folds: a cross-validation as a person meets it."""

import json
import re

import pytest

from tests.cli.lm_folder import call
from tests.tasks.topics import table

TRAIN = ["train", "classifier", "--train", "a.tsv", "--hidden", "4", "--epochs", "1", "--out", "cv", "--folds"]


@pytest.fixture
def elman(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    table(tmp_path / "a.tsv", 60)
    return lambda *arguments: call(monkeypatch, capsys, *arguments)


def test_folds_give_mean_and_spread_of_what_no_training_saw(elman, tmp_path):
    done = elman(*TRAIN, "2")
    assert done.code == 0
    found = json.loads((tmp_path / "cv" / "folds.json").read_text())
    both = [json.loads((tmp_path / "cv" / f"fold-{i}" / "metrics.json").read_text())["test"] for i in (1, 2)]
    assert [run["scores"] for run in found["runs"]] == both
    assert sum(scores["examples"] for scores in both) == 60
    said = re.search(r"^accuracy ([\d.]+) ± ([\d.]+) \(2 folds\)$", done.out, re.MULTILINE)
    one, other = (scores["accuracy"] for scores in both)
    assert float(said[1]) == pytest.approx((one + other) / 2, abs=0.01)
    assert float(said[2]) == pytest.approx(abs(one - other) / 2**0.5, abs=0.01)
    again = elman(*TRAIN, "2", "--resume")
    assert (again.code, again.out) == (0, done.out)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["1"], "--folds is 1, which leaves nothing to train on; give 2 or more"),
        (["2", "--seeds", "2"], "--folds and --seeds are two series of trainings: give one of them"),
        (["2", "--curve"], "--folds and --curve are two series of trainings: give one of them"),
        (["2", "--test", "a.tsv"], "test is given, but with folds a part of train is the test data"),
    ],
)
def test_what_cannot_be_cross_validated_is_one_sentence(elman, options, said):
    done = elman(*TRAIN, *options)
    assert done.code == 1
    assert said in done.err
