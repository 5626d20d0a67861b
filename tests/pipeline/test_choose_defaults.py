"""Settings by the data: rules are read downward, what is given stays, what does not fit is left out."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from elman.config import to_plain
from elman.pipeline.choose_defaults import choose_settings, list_keys, restore_choice, say_choice
from elman.pipeline.default_facts import Facts, gather_facts
from elman.pipeline.default_rules import RULES, Rule
from elman.pipeline.recipe import Recipe, build, recipe_class
from elman.tasks.registry import TASKS
from tests.tasks.topics import examples

SMALL, LARGE = Facts(task="classifier", examples=10), Facts(task="classifier", examples=1000)


def is_large(facts: Facts) -> bool:
    return facts.examples > 100


@pytest.fixture
def choose(monkeypatch):
    """What made-up rules choose for a recipe in which some keys are given."""

    def apply(rules: list[Rule], given: dict[str, Any] | None = None, facts: Facts = LARGE):
        monkeypatch.setattr("elman.pipeline.choose_defaults.RULES", tuple(rules))
        data = {"task": facts.task, **(given or {})}
        return choose_settings(build(data), frozenset(list_keys(data)), facts)

    return apply


def rule(sets: dict[str, Any], task: str = "", when=is_large) -> Rule:
    return Rule(task, "many examples", when, sets)


def test_a_rule_sets_what_it_says_where_it_holds(choose):
    many = [rule({"training.lr": 0.5, "model.hidden": 7})]
    chosen = choose(many)
    assert (chosen.recipe.training.lr, chosen.recipe.model.hidden) == (0.5, 7)
    assert chosen.settings == {"training.lr": 0.5, "model.hidden": 7}
    few = choose(many, facts=SMALL)
    assert few.recipe == recipe_class("classifier")()
    assert few.settings == {}


def test_a_rule_of_another_task_says_nothing(choose):
    assert choose([rule({"training.lr": 0.5}, "tagger")]).settings == {}
    assert choose([rule({"training.lr": 0.5}, "classifier")]).settings == {"training.lr": 0.5}


def test_a_later_rule_has_the_last_word(choose):
    chosen = choose([rule({"training.lr": 0.5, "training.epochs": 3}), rule({"training.lr": 0.1})])
    assert (chosen.recipe.training.lr, chosen.recipe.training.epochs) == (0.1, 3)


def test_a_value_may_be_computed_of_the_facts(choose):
    assert choose([rule({"model.hidden": lambda facts: facts.examples // 100})]).recipe.model.hidden == 10


@pytest.mark.parametrize("value", [0.01, 2e-3])  # another one than the default, and the very same
def test_what_is_given_is_never_chosen(choose, value):
    chosen = choose([rule({"training.lr": 0.5, "training.epochs": 3})], {"training": {"lr": value}})
    assert (chosen.recipe.training.lr, chosen.recipe.training.epochs) == (value, 3)
    assert chosen.settings == {"training.epochs": 3}


def test_what_is_given_within_a_table_keeps_the_table(choose):
    lm = replace(LARGE, task="lm")
    given = {"objective": {"kind": "scheduled"}}
    likelihood = build({"task": "lm"}).objective
    chosen = choose([rule({"objective": likelihood})], given, lm)
    assert chosen.recipe.objective.kind == "scheduled"
    assert chosen.settings == {}


def test_a_rule_that_does_not_go_with_what_is_given_is_left_out_as_a_whole(choose):
    rules = [rule({"model.pool": "ends", "training.epochs": 3}), rule({"training.lr": 0.5})]
    chosen = choose(rules, {"model": {"bidirectional": False}})
    assert chosen.settings == {"training.lr": 0.5}
    assert chosen.recipe.model.pool == build({"task": "classifier"}).model.pool
    assert choose(rules).recipe.model.pool == "ends"


def test_options_that_follow_from_others_follow_from_chosen_ones_too(choose):
    """A decoder of one layer where nobody says otherwise has attention; one of several has another kind."""
    facts = replace(LARGE, task="seq2seq")
    for layers in (1, 2):
        direct = build({"task": "seq2seq", "model": {"layers": layers, "hidden": 8}}).model
        chosen = choose([rule({"model.layers": layers})], {"model": {"hidden": 8}}, facts)
        assert chosen.recipe.model == direct


def test_keys_are_those_of_the_leaves():
    data = {"task": "lm", "model": {"hidden": 3}, "data": {"train": "a"}, "tokens": {}}
    assert [*list_keys(data)] == ["task", "model.hidden", "data.train", "tokens"]


def test_a_choice_is_restored_from_json_but_not_over_what_is_given_now(choose):
    lists = {"data.train": ["a", "b"], "training.lr": 0.5, "model.hidden": 9}
    fresh: Recipe = build({"task": "seq2seq", "model": {"hidden": 5}})
    found = restore_choice(fresh, {"model.hidden"}, lists)
    assert (found.data.train, found.training.lr, found.model.hidden) == (("a", "b"), 0.5, 5)


def test_the_choice_is_one_line_on_stderr(capsys):
    say_choice(
        {"training.lr": 0.0015, "model.ngrams": True, "model.pool": "max", "data.batch": 2000}, "8 texts"
    )
    out, err = capsys.readouterr()
    assert err == (
        "chosen for 8 texts: training.lr 0.0015, model.ngrams true, model.pool max, data.batch 2,000\n"
    )
    say_choice({}, "8 texts")
    assert out + "".join(capsys.readouterr()) == ""


def test_only_the_first_of_several_processes_says_it(capsys, monkeypatch):
    monkeypatch.setattr("elman.pipeline.choose_defaults.is_main_process", lambda: False)
    say_choice({"training.lr": 0.5}, "8 texts")
    assert capsys.readouterr().err == ""


def gather(data: dict[str, Any], given: set[str] | None = None, **options: Any) -> Facts:
    chosen = build({"task": "classifier", **data})
    asked = {"device": "cpu", "trained": False} | options
    return gather_facts(chosen, examples(20), given or set(), **asked)


def test_facts_are_of_the_data_the_machine_and_the_time():
    facts = gather({"training": {"minutes": 2.0}}, device="cuda:1", trained=True)
    assert (facts.task, facts.examples, facts.classes) == ("classifier", 20, {"time": 10, "place": 10})
    assert (facts.device, facts.minutes, facts.trained, facts.objective) == ("cuda", 2.0, True, "likelihood")
    assert facts.cores == 1
    assert facts.words == sum(len(e.text.split()) for e in examples(20))


def test_minutes_alone_end_a_run_where_neither_epochs_nor_updates_are_given():
    timed = {"training": {"minutes": 2.0}}
    assert gather(timed).timed
    assert not gather(timed, {"training.epochs"}).timed
    assert not gather(timed, {"training.updates"}).timed
    assert not gather({}).timed


def test_few_words_are_all_trained_on_in_the_end_where_some_are_held_out():
    small = Facts(task="classifier", examples=400, words=4000, held=True)
    given = {"data": {"train": "a.tsv"}, "task": "classifier"}
    assert choose_settings(build(given), (), small).recipe.training.refit
    for other in ({"held": False}, {"words": 200_000}, {"minutes": 1.0, "timed": True}):
        assert not choose_settings(build(given), (), replace(small, **other)).recipe.training.refit
    patient = build(given | {"training": {"patience": 3}})
    assert not choose_settings(patient, {"training.patience"}, small).recipe.training.refit
    assert gather({"data": {"train": "a.tsv"}}).held
    assert not gather({"data": {"train": "a.tsv", "valid": "b.tsv"}}).held


def test_a_text_that_is_read_soon_is_all_trained_on_in_the_end_where_its_end_is_held_out():
    text = Facts(task="lm", words=80_000, characters=400_000, running=True, held=True)
    for kind in ("words", "chars"):
        given = build({"data": {"train": "a.txt"}, "task": "lm", "tokens": {"kind": kind}})
        facts = replace(text, kind=kind)
        assert choose_settings(given, (), facts).recipe.training.refit
        longer = {"words": 2_000_000, "characters": 10_000_000}
        for other in ({"held": False}, longer, {"minutes": 1.0, "timed": True}, {"trained": True}):
            assert not choose_settings(given, (), replace(facts, **other)).recipe.training.refit


def test_few_sentences_are_all_trained_on_in_the_end_as_long_as_before():
    few = Facts(task="tagger", examples=4000, words=60_000, held=True)
    given = build({"data": {"train": "a.conll"}, "task": "tagger"})
    chosen = choose_settings(given, (), few).recipe
    assert (chosen.training.refit, chosen.training.patience, chosen.model.adversarial) == (True, 0, 0)
    for other in ({"held": False}, {"words": 200_000}, {"minutes": 1.0, "timed": True}, {"trained": True}):
        assert not choose_settings(given, (), replace(few, **other)).recipe.training.refit


def test_taggers_of_neither_few_nor_many_words_are_trained_adversarially():
    given = build({"data": {"train": "a.conll"}, "task": "tagger"})
    for words, share in ((100_000, 0), (200_000, 0.1), (400_000, 0)):
        facts = Facts(task="tagger", examples=words // 20, words=words)
        assert choose_settings(given, (), facts).recipe.model.adversarial == share
        assert choose_settings(given, (), replace(facts, trained=True)).recipe.model.adversarial == 0


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (
            Facts(noun="texts", examples=5452, words=51000, classes={"a": 1, "b": 2}),
            "5,452 texts of 9.4 words, 2 classes",
        ),
        (Facts(running=True, words=1200, characters=7000), "1,200 words"),
        (
            Facts(running=True, words=1200, characters=7000, kind="chars", minutes=1.5),
            "7,000 characters, 1.5 minutes",
        ),
        (
            Facts(noun="pairs", examples=10, words=30, trained=True, objective="risk"),
            "10 pairs of 3 words, a trained model, objective risk",
        ),
        (
            Facts(noun="texts", examples=1, words=1, classes={"a": 1}, minutes=1.0),
            "1 text of 1 word, 1 class, 1 minute",
        ),
        (Facts(running=True, words=1), "1 word"),
    ],
)
def test_what_was_looked_at_is_said_for_people(facts, said):
    assert facts.describe() == said


@pytest.mark.parametrize("number", range(len(RULES)))
def test_every_rule_names_keys_that_its_tasks_have_and_says_for_whom_it_is(number):
    """Whatever the rules are: their conditions and values can be computed, and no key is misspelled."""
    one = RULES[number]
    assert one.says
    assert one.task in ("", *TASKS)
    for task in [one.task] if one.task else TASKS:
        facts = Facts(task=task, examples=2000, words=30_000, characters=150_000, types=900, minutes=3.0)
        assert one.when(facts) in (True, False)
        for key in one.sets:
            if key.startswith("objective."):  # each kind has fields of its own
                continue
            place: Any = build({"task": task})
            for part in key.split("."):
                assert part in [f.name for f in fields(place)], key
                place = getattr(place, part)
            assert not isinstance(place, dict), key


def test_the_plain_command_with_minutes_lets_the_minutes_end_it():
    facts = Facts(task="classifier", examples=2000, words=30_000, minutes=3.0, timed=True)
    recipe = build({"task": "classifier", "training": {"minutes": 3.0}})
    chosen = choose_settings(recipe, {"task", "training.minutes"}, facts).recipe.training
    assert (chosen.epochs, chosen.updates, chosen.minutes) == (0, 0, 3.0)
    assert 0 < chosen.evaluation_share < 1
    assert to_plain(chosen)["epochs"] == 0
