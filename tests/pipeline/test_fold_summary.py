"""folds.json: the scores of each fold, their mean and spread."""

import json
from statistics import stdev

import pytest

from elman.pipeline.fold_summary import describe_folds, write_folds
from elman.pipeline.seed_summary import SeedRun

RUNS = [SeedRun({"test": {"f1": f1, "tokens": 20_000}}, "f1", True) for f1 in (90.0, 93.0)]


def test_folds_are_numbered_from_one_beside_the_folders_of_those_that_are_trained(tmp_path):
    write_folds(RUNS, tmp_path, 5)
    assert json.loads((tmp_path / "folds.json").read_text()) == {
        "folds": 5,
        "scores": {"f1": {"mean": 91.5, "sd": pytest.approx(stdev([90, 93]))}},
        "runs": [
            {"fold": 1, "folder": "fold-1", "scores": {"f1": 90.0, "tokens": 20_000}},
            {"fold": 2, "folder": "fold-2", "scores": {"f1": 93.0, "tokens": 20_000}},
        ],
    }
    assert (tmp_path / "folds.json").read_text().endswith("\n")


def test_a_line_has_the_mean_over_the_folds_and_its_spread():
    assert describe_folds(RUNS) == ["f1 91.50 ± 2.12 (2 folds)"]
    assert describe_folds(RUNS[:1]) == ["f1 90.00 ± 0.00 (1 folds)"]
