"""Training on from a model and objectives have defaults of their own; a user and a recipe outrank them."""

import pytest

import elman
from elman.pipeline.choose_defaults import choose_settings
from elman.pipeline.default_facts import Facts
from elman.pipeline.recipe import build
from elman.tasks.classifier.task import Classifier
from elman.tasks.registry import TASKS
from tests.tasks.topics import TINY, table


def choose(task: str, given: frozenset[str] = frozenset(), *, trained: bool = True, **sections: object):
    recipe = build({"task": task, **sections})
    objective = recipe.objective.kind if recipe.objective else "likelihood"
    facts = Facts("texts", examples=100, words=1000, task=task, trained=trained, objective=objective)
    return choose_settings(recipe, given, facts).recipe


@pytest.mark.parametrize("task", [*TASKS])
def test_a_trained_model_goes_on_more_slowly(task):
    usual = choose(task, trained=False).training
    going_on = choose(task).training
    assert going_on.lr < usual.lr
    assert going_on.warmup >= 0.1 >= usual.warmup


@pytest.mark.parametrize("kind", ["scheduled", "risk", "reinforce", "mixer", "professor"])
def test_an_objective_goes_on_more_slowly_still(kind):
    chosen = choose("seq2seq", objective={"kind": kind}).training
    assert chosen.lr < choose("seq2seq").training.lr
    assert chosen.grad_clip < 1


@pytest.mark.parametrize("kind", ["risk", "reinforce"])
def test_likelihood_is_mixed_in_unless_said_otherwise(kind):
    assert choose("seq2seq", objective={"kind": kind}).objective.likelihood > 0
    said = {"kind": kind, "likelihood": 0.0}
    given = frozenset({"objective.kind", "objective.likelihood"})
    assert choose("seq2seq", given, objective=said).objective.likelihood == 0


def test_what_the_user_gives_stays():
    given = frozenset({"training.lr", "training.warmup"})
    chosen = choose("seq2seq", given, training={"lr": 0.1, "warmup": 0.0}).training
    assert (chosen.lr, chosen.warmup) == (0.1, 0.0)


def test_a_recipe_means_what_it_says(tmp_path):
    again = {"task": "classifier", "data": {"train": table(tmp_path / "t.tsv", 20)}, "training": {"epochs": 1}}
    elman.train(again | {"model": TINY}, tmp_path / "a", device="cpu")
    literal = elman.train(again | {"model": TINY}, init=tmp_path / "a", device="cpu")
    chosen = elman.train(again, init=tmp_path / "a", choose_defaults=True, device="cpu")
    usual = Classifier.defaults.training["lr"]
    assert literal.record.config["training"]["lr"] == usual
    assert chosen.record.config["training"]["lr"] == usual / 4
