"""What a search and a learning curve say: each trial in a line, the best in a table, the gain of more data."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from elman.cli.curve_report import describe_forecast, report_curve
from elman.cli.tuning_report import _describe_end, _describe_plan, _plot, _print_trials
from elman.errors import ModelError
from elman.pipeline.learning_curve import CurvePoint, LearningCurve
from elman.pipeline.tuning_length import Rung
from elman.pipeline.tuning_plan import TuningPlan
from elman.pipeline.tuning_result import SearchResult
from elman.pipeline.tuning_study import TrialResult


def trial(number, score=None, *, rung=0, failure="", **values):
    scores = {} if score is None else dict.fromkeys(range(rung + 1), score)
    return TrialResult(number, values, scores, {0: 1.0}, failure, True, rung)


def plan_of(*minutes, folds=0, space=None):
    return TuningPlan({}, folds, tuple(map(Rung, minutes)), {}, space or {}, {}, 0.0)


def search(*, jobs=1, folds=0, sign=1, best=None):
    plan = plan_of(0.5, 2.0, folds=folds, space={"model.hidden": {}, "training.lr": {}})
    scores = SimpleNamespace(metric="accuracy", sign=sign)
    study = SimpleNamespace(best=best, results=[])
    return SimpleNamespace(plan=plan, request=SimpleNamespace(jobs=jobs), scores=scores, study=study)


def test_a_plan_says_how_long_its_trainings_are_and_how_many_at_a_time():
    assert _describe_plan(search()) == "searching 2 settings: trainings of 30 s → 2 min 0 s, one at a time"
    said = _describe_plan(search(jobs=2, folds=5))
    assert said == "searching 2 settings: trainings of 30 s → 2 min 0 s for each of 5 folds, 2 at a time"


def describe(event_trial, *, goes_on=False, **more):
    return _describe_end(search(**more), SimpleNamespace(result=event_trial, goes_on=goes_on))


def test_the_end_of_a_training_is_one_line():
    assert describe(trial(0, 91.5)) == "trial 0 (the plain settings): accuracy 91.50 after 30 s"
    assert describe(trial(3, 91.5, rung=1)) == "trial 3: accuracy 91.50 after 2 min 0 s"
    assert describe(trial(3, -1.5), sign=-1) == "trial 3: accuracy 1.50 after 30 s"
    best = trial(3, 91.5)
    assert describe(best, goes_on=True, best=best).endswith("after 30 s, goes on")
    assert describe(best, best=best).endswith("after 30 s, the best so far")
    assert describe(trial(4, 90.0), best=best).endswith("after 30 s")
    assert describe(trial(4, failure="no room")) == "trial 4 failed: no room"
    assert describe(trial(0, failure="x")) == "trial 0 (the plain settings) failed: x"


def test_the_table_has_the_best_ten_and_the_plain_settings_in_any_case(capsys):
    def show(trials):
        _print_trials(SearchResult(plan_of(0.5), trials, "accuracy", 1.0))
        return capsys.readouterr().out.splitlines()

    plain = trial(0, 50.0, **{"model.hidden": 64, "training.lr": 0.01, "model.crf": True})
    values = {
        "model.hidden": 64,
        "training.lr": 0.0012345,
        "model.crf": False,
        "model.cell": "gru",
        "model.x": "",
    }
    header, first, second = show([trial(1, 60.0, **values), plain])
    assert " ".join(header.split()) == "trial training accuracy settings other than the plain ones"
    assert " ".join(first.split()) == "1 30 s 60.00 lr 0.00123, crf false, cell gru, x none"
    assert " ".join(second.split()) == "0 30 s 50.00 the plain settings"
    begins = [line.index(words) for line, words in ((header, "settings"), (first, "lr"), (second, "the plain"))]
    assert len({*begins}) == 1, "words begin below each other, numbers end so"
    failed = trial(99, failure="no room")
    many = [trial(n, 100.0 - n) for n in range(1, 12)]
    lines = show([*many, plain, failed])
    assert [line.split()[0] for line in lines[1:-1]] == [*"123456789", "0"]
    assert lines[-1] == "12 trials; all are in trials.csv"
    assert [line.split()[0] for line in show([plain, *many[:9], failed])[1:]] == ["0", *"123456789"]


@pytest.mark.parametrize(
    ("folds", "first", "label"),
    [
        (0, Rung(0.5), "valid accuracy after 30 s"),
        (3, Rung(0.5), "accuracy after 30 s"),
        (0, Rung(0.5, 3), "valid accuracy after about 3 epochs"),
    ],
)
def test_the_picture_has_the_scores_of_first_trainings_and_the_ranges_of_numbers(
    folds, first, label, monkeypatch, capsys
):
    space = {
        "lr": {"low": 0.1, "high": 1.0, "log": True},
        "size": {"low": 1, "high": 9},
        "cell": {"choices": ["a"]},
    }
    plan = replace(plan_of(0.5, 2.0, folds=folds, space=space), rungs=(first, Rung(2.0, 3 * first.epochs)))
    trials = [
        TrialResult(2, {"lr": 0.2}, {0: -1.5, 1: -1.0}, {0: 1.0}, "", True, 1),
        TrialResult(0, {"lr": 0.1}, {0: -2.0}, {0: 1.0}, "", True, 0),
        TrialResult(1, {"lr": 0.3}, {0: -3.0}, {0: 1.0}, "", True, 0),
        TrialResult(3, {"lr": 0.4}, {}, {0: 1.0}, "no room", True, 0),
    ]
    result, drawn = SearchResult(plan, trials, "accuracy", -1.0), []
    monkeypatch.setattr(
        "elman.pipeline.setting_importance.measure_importance", lambda scored, study: len(scored)
    )
    plot = lambda *given, **named: drawn.append((given, named))  # noqa: E731
    monkeypatch.setattr("elman.inspect.tuning_plots.plot_tuning", plot)
    made = SimpleNamespace(out=Path("out"), study=None)
    assert _plot(result, made)
    (((shown, importance, path), named),) = drawn
    assert [(t.score, t.role) for t in shown] == [(1.5, "best"), (2.0, "plain"), (3.0, "")]
    assert (importance, path, named["label"]) == (3, Path("out/tune.png"), label)
    assert named["ranges"] == {"lr": (0.1, 1.0, True), "size": (1, 9, False)}

    def missing(*given, **named):
        raise ModelError("there is no matplotlib")

    monkeypatch.setattr("elman.inspect.tuning_plots.plot_tuning", missing)
    assert not _plot(result, made)
    assert capsys.readouterr().err == "no picture: there is no matplotlib\n"


def curve(scores, *, metric="accuracy", seeds=1):
    sizes = [100, 200, 400, 700, 1000]
    points = zip(sizes, scores, strict=True)
    return LearningCurve(metric, "examples", tuple(CurvePoint(n / 1000, n, (s,) * seeds) for n, s in points))


def test_what_more_data_would_give_is_said_where_the_errors_follow_a_law():
    # An error of 1000 / n per cent halves with twice the data.
    said = describe_forecast(curve([90.0, 95.0, 97.5, 100 - 10 / 7, 99.0]))
    assert said == (
        "with twice the data (2,000 examples), accuracy would likely be about 99.50 instead of 99.00: the "
        "error falls as n^-1.00 (R² 1.00)"
    )
    assert describe_forecast(curve([90.0, 80.0, 95.0, 70.0, 60.0])).startswith("the scores do not follow")
    assert describe_forecast(curve([90.0, 95.0, 97.5, 99.0, 100.0])).startswith("there are too few sizes")


@pytest.mark.parametrize(("seeds", "cell"), [(1, "90.00"), (2, "90.00 ± 0.00")])
def test_a_learning_curve_is_a_row_for_each_size(seeds, cell, capsys, tmp_path):
    report_curve(curve([90.0, 95.0, 97.5, 98.5, 99.0], seeds=seeds), tmp_path)
    done = capsys.readouterr()
    title, header, first, *_, last, _forecast = done.out.splitlines()
    assert title == "learning curve"
    assert header.split() == ["data", "examples", "valid", "accuracy"]
    assert " ".join(first.split()) == f"10 % 100 {cell}"
    assert " ".join(last.split()).startswith("100 % 1,000 99.00")
    assert done.err.startswith(f"learning curve: {tmp_path / 'curve.json'}") or "no picture" in done.err
