"""Several trainings by one command: which ones, in which folders, and what is said of them."""

from pathlib import Path

import pytest

from elman.cli.training_run import RunOptions, _say_next, _table_ending
from elman.cli.training_series import check_series, describe_next, describe_series, plan_series
from elman.errors import ConfigError
from elman.pipeline.recipe import build
from elman.pipeline.seed_summary import SeedRun


def options(**more):
    plain = {"seeds": 1, "folds": 0, "resume": False, "overwrite": False, "device": "cpu", "init": None}
    return RunOptions(out=Path("out"), threads=0, **(plain | {"curve": False} | more))


def runs(*scores, best="max", part="valid"):
    return [SeedRun({part: {"accuracy": s}}, "accuracy", best == "max") for s in scores]


RECIPE = build({"task": "classifier", "data": {"train": "a.tsv"}, "training": {"seed": 7}})


def test_one_training_is_the_recipe_itself():
    assert plan_series(RECIPE, options()) == [(RECIPE, Path("out"))]


def test_seeds_differ_in_their_seed_alone_and_folds_in_their_fold():
    seeds = plan_series(RECIPE, options(seeds=3))
    assert [folder for _, folder in seeds] == [Path("out") / f"seed-{n}" for n in range(3)]
    assert [recipe.training.seed for recipe, _ in seeds] == [0, 1, 2]
    assert all(recipe.data == RECIPE.data for recipe, _ in seeds)
    folds = plan_series(RECIPE, options(folds=2))
    assert [folder for _, folder in folds] == [Path("out/fold-1"), Path("out/fold-2")]
    assert [(recipe.data.fold, recipe.data.folds) for recipe, _ in folds] == [(1, 2), (2, 2)]
    assert {recipe.training.seed for recipe, _ in folds} == {7}


def test_two_series_at_once_and_a_single_fold_are_refused():
    for more, name in (({"seeds": 2}, "--seeds"), ({"curve": True}, "--curve")):
        with pytest.raises(ConfigError, match=rf"^--folds and {name} are two series of trainings: give one of"):
            check_series(options(folds=3, **more))
    with pytest.raises(ConfigError, match=r"^--folds is 1, which leaves nothing to train on; give 2 or more$"):
        check_series(options(folds=1))
    for fine in ({}, {"folds": 2}, {"seeds": 2}, {"seeds": 2, "curve": True}, {"curve": True}):
        check_series(options(**fine))


@pytest.mark.parametrize(("best", "seed", "score"), [("max", 1, "92.00"), ("min", 0, "90.00")])
def test_of_seeds_the_best_is_named_and_of_folds_what_comes_next(best, seed, score):
    some = runs(90.0, 92.0, 91.0, best=best)
    assert describe_next(some, options(seeds=3)) == [
        f"best seed: {seed} (valid accuracy {score}), in out/seed-{seed}",
        "all seeds: out/seeds.json",
    ]
    assert describe_next(runs(90.0, 92.0, part="test"), options(seeds=2)) == ["all seeds: out/seeds.json"]
    folds = "all folds: out/folds.json; the same command without --folds trains on all data"
    assert describe_next(some, options(folds=3)) == [folds]
    assert describe_series(some, options(seeds=3)) == ["valid accuracy 91.00 ± 1.00 (3 seeds)"]
    tested = runs(90.0, 92.0, part="test")
    assert describe_series(tested, options(folds=2)) == ["accuracy 91.00 ± 1.41 (2 folds)"]


@pytest.mark.parametrize("series", [{"folds": 3}, {"seeds": 3}])
def test_at_the_end_of_a_series_its_results_are_named(series, capsys):
    run, some = options(**series), runs(90.0, 92.0, 91.0)
    _say_next(RECIPE, some, run)
    assert capsys.readouterr().err.splitlines() == describe_next(some, run)


def test_at_the_end_of_a_training_the_next_commands_are_said(capsys):
    _say_next(RECIPE, runs(90.0), options())
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("next: ")
    assert "out" in said[0]
    assert said[1:] == ["a table: elman predict out new.tsv --out answers.tsv"]
    text = build({"task": "classifier", "data": {"train": ("a.txt", "b.txt")}})
    _say_next(text, runs(90.0), options())
    assert len(capsys.readouterr().err.splitlines()) == 1
    lm = build({"task": "lm", "data": {"train": "a.csv"}})
    _say_next(lm, runs(90.0), options())
    assert "a table" not in capsys.readouterr().err


def test_new_tables_likely_end_as_the_one_of_training():
    endings = {"a.csv": ".csv", "b/a.xlsx": ".xlsx", "a.tsv.gz": ".tsv.gz", "a.txt": "", "-": ""}
    found = {source: _table_ending(source) for source in endings}
    assert found == endings | {"a.tsv.gz": found["a.tsv.gz"]}
    assert found["a.tsv.gz"] in (".tsv", ".tsv.gz")
    assert _table_ending(("a.csv", "b.csv")) == ""
