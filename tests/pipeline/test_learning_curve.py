"""Trainings on parts of the data: nested, on the same validation data, all of it at last."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from elman.config import to_plain
from elman.errors import ConfigError
from elman.pipeline import run_recipe
from elman.pipeline.learning_curve import SHARES, read_curve, smaller_runs, write_curve
from elman.pipeline.recipe import build
from elman.tasks.language_model.task import LanguageModel
from elman.tasks.nested_subset import nested_subset
from tests.tasks import topics


def test_smaller_parts_are_in_larger_ones_and_have_every_label():
    examples = [(i, "rare" if i == 7 else "abc"[i % 3]) for i in range(200)]
    parts = [nested_subset(examples, share, lambda e: (e[1],)) for share in (0.01, 0.1, 0.5, 0.9)]
    assert [len(part) for part in parts] == [4, 20, 100, 180]
    for small, large in pairwise(parts):
        assert set(small) < set(large)
    for part in parts:
        assert {label for _, label in part} == {"a", "b", "c", "rare"}
        assert part == sorted(part), "in the order of the file"


def recipe(folder: Path, **data):
    topics.table(folder / "a.tsv", 80)
    sections = {"data": {"train": str(folder / "a.tsv"), **data}, "model": {"hidden": 4, "embedding": 4}}
    return build({"task": "classifier", **sections, "training": {"epochs": 1}})


def test_a_curve_has_all_sizes_and_the_same_validation_data(tmp_path):
    chosen, out = recipe(tmp_path), tmp_path / "m"
    for run in smaller_runs(chosen, out, [0]):
        run_recipe(run.recipe, run.folder)
    whole = run_recipe(chosen, out)
    curve = read_curve(out, [out], [0])
    assert [point.share for point in curve.points] == [*SHARES]
    assert [point.size for point in curve.points] == [7, 14, 28, 50, 72]
    assert curve.points[-1].scores == (whole.metrics["valid"]["accuracy"],)
    judged = {
        json.loads((folder / "metrics.json").read_text())["valid"]["examples"] for folder in out.glob("curve/*")
    }
    assert judged == {whole.metrics["valid"]["examples"]}
    write_curve(curve, out)
    stored = json.loads((out / "curve.json").read_text())
    assert [point["mean"] for point in stored["points"]] == [point.mean for point in curve.points]
    small = json.loads((out / "curve" / "10-seed-0" / "config.json").read_text())
    assert small["data"]["share"] == pytest.approx(0.1)
    assert to_plain(chosen)["data"]["share"] == 1.0


def test_the_parts_of_a_curve_are_parts_of_what_is_asked_for_once_for_each_seed(tmp_path):
    runs = [*smaller_runs(recipe(tmp_path, share=0.5), tmp_path, [0, 3])]
    assert [run.recipe.data.share for run in runs] == pytest.approx(
        [part for share in (0.05, 0.1, 0.2, 0.35) for part in (share, share)]
    )
    assert [run.recipe.training.seed for run in runs] == [0, 3] * 4
    names = [f"{share}-seed-{seed}" for share in (10, 20, 40, 70) for seed in (0, 3)]
    assert [run.folder for run in runs] == [tmp_path / "curve" / name for name in names]


def test_a_curve_without_validation_data_is_refused_before_any_work(tmp_path):
    with pytest.raises(ConfigError, match="validation data"):
        next(smaller_runs(recipe(tmp_path, holdout=0.0), tmp_path, [0]))


def test_a_share_outside_its_range_is_refused(tmp_path):
    for share in (0.0, 1.5):
        with pytest.raises(ConfigError, match="share"):
            recipe(tmp_path, share=share)


def test_a_part_of_a_text_is_its_beginning_with_the_vocabulary_of_all_of_it(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "book.txt").write_text("".join(f"word{i} is here\n" for i in range(100)))
    data = LanguageModel.defaults.data
    corpus = LanguageModel.read(data, str(tmp_path / "book.txt"), train=True)
    some = LanguageModel.take_share(corpus, 0.25)
    tokens = LanguageModel.defaults.tokens
    assert some.learn(tokens).items == corpus.learn(tokens).items
    whole, part = (one.encode(corpus.learn(tokens)) for one in (corpus, some))
    assert len(part) == len(whole) // 4
    assert (part.ids == whole.ids[: len(part)]).all()
