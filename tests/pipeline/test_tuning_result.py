"""What a search found, in numbers and in sentences; how trials are put in order and read."""

import csv
import json
from math import inf

import pytest

from elman.errors import ModelError
from elman.pipeline.trial_score import ScoreReader, find_length
from elman.pipeline.tuning_length import Rung
from elman.pipeline.tuning_plan import TuningPlan
from elman.pipeline.tuning_result import SearchResult, write_table
from elman.pipeline.tuning_study import TrialResult, find_best


def trial(number, *scores, failure="", seconds=1.0, **values):
    return TrialResult(number, values, dict(enumerate(scores)), {0: seconds}, failure, True, len(scores) - 1)


RUNGS = (Rung(0.5), Rung(2.0))


def result(*trials, sign=1.0, folds=0, rungs=RUNGS):
    plan = TuningPlan({}, folds, rungs, {}, {"model.hidden": {}, "training.lr": {}}, {}, 0.0)
    return SearchResult(plan, trials, "accuracy", sign)


def test_the_best_came_furthest_then_scored_most_then_was_first():
    assert find_best([]) is find_best([trial(0), trial(1, 9.0, failure="no room")]) is None
    assert find_best([trial(0, 5.0), trial(1, 9.0), trial(2, 9.0), trial(3)]).number == 1
    assert find_best([trial(0, 99.0), trial(1, 1.0, 2.0), trial(2, 1.0, 3.0)]).number == 2
    assert [trial(0).reached, trial(0, 1.0).reached, trial(0, 1.0, 2.0).reached] == [-1, 0, 1]


def test_what_is_gained_is_said_at_the_length_that_both_came_to():
    plain, best = trial(0, 50.0, 60.0), trial(3, 55.0, 62.5)
    assert result(best, plain).describe_gain() == (
        "gain over the plain settings: accuracy 60.00 → 62.50 (+2.50, validation data)"
    )
    assert result(best, trial(0, 50.0), folds=5).describe_gain() == (
        "gain over the plain settings: accuracy 50.00 → 62.50 (+12.50, mean over the folds)"
    )
    fewer = result(trial(3, -4.0, -3.0), trial(0, -5.0, -3.5), sign=-1.0)
    assert fewer.describe_gain().endswith("accuracy 3.50 → 3.00 (-0.50, validation data)")
    assert result(best, trial(0, 62.5)).describe_gain().endswith("62.50 → 62.50 (+0.00, validation data)")
    assert result(plain, trial(1, 40.0)).describe_gain() == (
        "the plain settings are the best of 2 trials: accuracy 60.00 (validation data)"
    )


def test_of_a_trial_the_settings_count_that_are_not_the_plain_ones():
    plain = trial(0, 1.0, **{"model.hidden": 64, "training.lr": 0.1})
    other = trial(1, 1.0, **{"model.hidden": 64, "training.lr": 0.2, "model.x": 0})
    found = result(plain, other)
    assert found.changes(other) == {"training.lr": 0.2, "model.x": 0}
    assert found.changes(plain) == {}
    assert (found.plain, found.score(other, 0)) == (plain, 1.0)


def test_the_table_of_trials_has_their_length_scores_and_settings(tmp_path):
    some = (
        trial(2, -3.0, -2.0, seconds=12.345, **{"model.hidden": 9, "training.lr": 0.1}),
        trial(0, -4.0, **{"model.hidden": 8}),
        trial(1, failure="no room", seconds=0.04),
    )
    write_table(result(*some, sign=-1.0), tmp_path)
    with (tmp_path / "trials.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["trial", "training", "accuracy", "seconds", "failure", "model.hidden", "training.lr"]
    assert rows == [
        ["2", "2 min 0 s", "2.0", "12.3", "", "9", "0.1"],
        ["0", "30 s", "4.0", "1.0", "", "8", ""],
        ["1", "", "", "0.0", "no room", "", ""],
    ]


def test_a_trial_with_more_epochs_has_the_same_share_of_them_at_each_length():
    found = result(rungs=(Rung(0.1, 1), Rung(0.3, 3), Rung(1.0, 10)))
    for epochs, lengths in (
        (10, ["1 epoch", "3 epochs", "10 epochs"]),
        (20, ["2 epochs", "6 epochs", "20 epochs"]),
    ):
        some = [trial(0, *[1.0] * reached, **{"training.epochs": epochs}) for reached in (1, 2, 3)]
        assert [found.describe_length(one) for one in some] == lengths
    assert found.describe_length(trial(0, 1.0, **{"training.epochs": 2})) == "1 epoch"


@pytest.mark.parametrize("folds", [0, 3])
def test_a_score_is_such_that_more_is_better_and_one_that_is_no_number_is_the_least(tmp_path, folds):
    plan = TuningPlan({}, folds, (Rung(1.0),), {}, {}, {}, 0.0)
    reader = ScoreReader(plan)
    reader.metric, reader.sign = "perplexity", -1.0
    for score, expected in ((12.5, -12.5), (inf, -inf), (float("nan"), -inf)):
        (tmp_path / "metrics.json").write_text(json.dumps({"valid": {"perplexity": score if not folds else 1}}))
        (tmp_path / "folds.json").write_text(json.dumps({"scores": {"perplexity": {"mean": score}}}))
        assert reader.read(tmp_path) == expected


def test_the_updates_of_a_trial_are_those_before_its_best_evaluation(tmp_path):
    rows = [
        {"update": 5, "best": True},
        {"update": 9, "best": True},
        {"update": 12, "best": False},
        {"update": 15},
    ]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert find_length(tmp_path, 0) == {"updates": 9}
    for content in ('{"update": 3}\n', "[1]\n", "{", ""):
        (tmp_path / "metrics.jsonl").write_text(content)
        with pytest.raises(ModelError, match=r"metrics\.jsonl is not what a training has written"):
            find_length(tmp_path, 0)


def test_a_trial_that_its_minutes_ended_had_fewer_epochs(tmp_path):
    rows = [{"update": 5, "epoch": 1}, {"update": 9, "epoch": 2}, {"update": 9, "scores": {}, "best": True}]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for stopped, epochs in (("epochs", 7), ("patience", 7), ("minutes", 2)):
        (tmp_path / "metrics.json").write_text(json.dumps({"stopped": stopped}))
        assert find_length(tmp_path, 7) == {"epochs": epochs}
    (tmp_path / "metrics.json").write_text("{}")
    with pytest.raises(ModelError, match="is not what a training has written"):
        find_length(tmp_path, 7)
