"""The baseline at the end of a run: a line, in the folder, and never in the way."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import elman
from elman.errors import ConfigError
from elman.pipeline import run_recipe
from elman.pipeline.baseline_report import judge_baseline, say_baseline
from elman.pipeline.recipe import Recipe, build
from elman.tasks.baseline_result import BaselineResult
from elman.tasks.classifier.task import Classifier
from elman.training import training_loop
from tests.tasks.topics import TINY, examples, fresh, table


def recipe(folder: Path, **sections: Any) -> Recipe:
    data = {"train": table(folder / "a.tsv", 40), "valid": table(folder / "b.tsv", 10, 1)}
    training = {"updates": 2} | sections.pop("training", {})
    settings = {"model": TINY | {"encoder": "bag"}, "training": training} | sections
    return build({"task": "classifier", "data": data | settings.pop("data", {})} | settings)


@pytest.fixture
def simple(monkeypatch):
    """A simple model that scores so much; what it was asked is kept."""

    def use(score: float, seconds: float = 0.0, name: str = "a coin") -> list[Any]:
        asked: list[Any] = []

        def baseline(self, *arguments):
            asked.append(arguments)
            return BaselineResult(name, {"accuracy": score, "examples": 10}, seconds)

        monkeypatch.setattr(Classifier, "baseline", baseline)
        return asked

    return use


def test_a_training_ends_with_a_line_that_the_folder_has_too(tmp_path, capsys):
    outcome = run_recipe(recipe(tmp_path), tmp_path / "m")
    found, score = outcome.metrics["baseline"], outcome.metrics["valid"]["accuracy"]
    record = json.loads((tmp_path / "m" / "run.json").read_text())
    name, seconds = record["baseline"].values()
    line = f"baseline ({name}, {seconds} s): accuracy {found['accuracy']:.2f}   this model: {score:.2f}"
    assert line in capsys.readouterr().err.splitlines()
    assert f"- {line}\n" in (tmp_path / "m" / "README.md").read_text()
    assert json.loads((tmp_path / "m" / "metrics.json").read_text())["baseline"] == found
    assert name == "bag of n-grams"


def test_the_baseline_is_judged_by_what_the_model_is_judged_by(tmp_path, simple):
    asked = simple(50.0)
    run_recipe(recipe(tmp_path), tmp_path / "m")
    ((training, valid, seconds),) = asked
    assert [len(training), len(valid)] == [40, 10]
    assert [e.text for e in valid.examples] == [e.text for e in examples(10, seed=1)]
    assert seconds == 5.0


def test_a_better_baseline_is_said_with_what_to_try(tmp_path, simple, capsys):
    simple(100.5)
    run_recipe(recipe(tmp_path), tmp_path / "m")
    *_, line, verdict = capsys.readouterr().err.splitlines()
    assert line.startswith("baseline (a coin, 0.1 s): accuracy 100.50   this model: ")
    assert verdict == (
        "the baseline is better than this model; try more --minutes or --epochs, elman tune classifier, "
        "text without labels (--unlabelled FILE), or more data"
    )


@pytest.mark.parametrize(("score", "wins"), [(49.9, False), (50.0, False), (50.1, True)])
def test_only_a_better_one_wins(tmp_path, simple, score, wins):
    simple(score)
    model = fresh()
    judged = judge_baseline(recipe(tmp_path), model, [], [1], {"accuracy": 50.0}, 0.0)
    assert judged.wins is wins


def test_less_perplexity_is_better(tmp_path, simple, monkeypatch):
    simple(49.0)
    monkeypatch.setattr(Classifier, "best", "min")
    assert judge_baseline(recipe(tmp_path), fresh(), [], [1], {"accuracy": 50.0}, 0.0).wins


def test_where_unlabelled_text_is_read_or_cannot_be_it_is_not_advised(tmp_path, capsys, simple):
    simple(60.0)
    told = []
    for change in ({"unlabelled": "b.txt"}, {}):
        chosen = recipe(tmp_path, data=change)
        say_baseline(judge_baseline(chosen, fresh(), [], [1], {"accuracy": 50.0}, 0.0), chosen)
        told.append("--unlabelled" in capsys.readouterr().err)
    assert told == [False, True]


def test_the_time_of_the_models_own_part_counts(tmp_path, simple):
    simple(60.0, seconds=7.0)
    assert judge_baseline(recipe(tmp_path), fresh(), [], [1], {"accuracy": 50.0}, 0.0).seconds >= 7.0


def test_it_may_take_a_tenth_of_the_run_of_all_sessions(tmp_path, simple):
    asked = simple(60.0)
    judge_baseline(recipe(tmp_path), fresh(), [], [1], {"accuracy": 50.0}, 600.0)
    assert asked[0][2] == 60.0


@pytest.mark.parametrize(
    "left_out", [{"training": {"baseline": False}}, {"data": {"valid": "", "holdout": 0.0}}]
)
def test_without_validation_data_or_where_it_is_not_wanted_there_is_none(tmp_path, capsys, simple, left_out):
    asked = simple(60.0)
    outcome = run_recipe(recipe(tmp_path, **left_out), tmp_path / "m")
    assert not asked
    assert "baseline" not in outcome.metrics
    assert "baseline" not in capsys.readouterr().err
    assert "baseline" not in (tmp_path / "m" / "README.md").read_text()


@pytest.mark.parametrize("error", [ConfigError("there is none"), ZeroDivisionError("by zero"), MemoryError()])
def test_a_baseline_that_fails_takes_no_model_with_it(tmp_path, capsys, monkeypatch, error):
    def fail(self, *arguments):
        raise error

    monkeypatch.setattr(Classifier, "baseline", fail)
    outcome = run_recipe(recipe(tmp_path), tmp_path / "m")
    assert "baseline" not in outcome.metrics
    said = str(error) if isinstance(error, ConfigError) else f"{type(error).__name__}: {error}"
    assert f"no baseline: {said}\n" in capsys.readouterr().err
    assert elman.load(tmp_path / "m").evaluate([("when was it", "time")])


def test_a_signal_while_it_is_judged_leaves_the_model(tmp_path, monkeypatch):
    def interrupt(self, *arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(Classifier, "baseline", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run_recipe(recipe(tmp_path), tmp_path / "m")
    assert elman.load(tmp_path / "m").evaluate([("when was it", "time")])


def test_a_resumed_run_has_it_too_even_if_the_first_session_wanted_none(tmp_path, monkeypatch, capsys):
    chosen = recipe(tmp_path, training={"updates": 6, "evaluate_every": 2})

    def cut(*arguments, **options):
        for event in training_loop.fit(*arguments, **options):
            yield event
            if getattr(event, "due", False):
                raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("elman.pipeline.train_recipe.fit", cut)
        with pytest.raises(KeyboardInterrupt):
            run_recipe(replace(chosen, training=replace(chosen.training, baseline=False)), tmp_path / "m")
    assert "baseline" not in capsys.readouterr().err
    outcome = run_recipe(chosen, tmp_path / "m", resume=True)
    assert outcome.metrics["baseline"]["examples"] == 10


def test_the_other_processes_of_a_run_judge_none(tmp_path, monkeypatch, simple):
    asked = simple(60.0)
    monkeypatch.setattr("elman.pipeline.delivery.is_main_process", lambda: False)
    outcome = run_recipe(recipe(tmp_path), tmp_path / "m")
    assert not asked
    assert "baseline" not in outcome.metrics


def test_training_in_python_shows_it(capsys):
    rows = [(e.text, e.label) for e in examples(60)]
    model = Classifier.train(rows, valid=rows[:10], epochs=1, recipe={"model": TINY})
    assert "baseline (bag of n-grams, " in capsys.readouterr().err
    assert model.record.metrics["baseline"]["accuracy"] == 100.0
