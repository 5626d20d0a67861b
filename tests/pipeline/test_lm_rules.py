"""What the rules choose for language models, by made-up facts."""

import pytest

from elman.pipeline import lm_choices
from elman.pipeline.choose_defaults import choose_settings
from elman.pipeline.default_facts import Facts
from elman.pipeline.recipe import build

MILLION = {"task": "lm", "running": True, "words": 1_000_000, "characters": 5_000_000, "types": 30_000}


def choose(given=(), recipe=None, **facts):
    data = {"task": "lm", "data": {"train": "text"}, "training": {"minutes": facts.get("minutes", 0)}}
    data |= recipe or {}
    return choose_settings(build(data), given, Facts(**{**MILLION, **facts}))


def test_tiny_texts_keep_the_plain_defaults():
    assert choose(words=20_000, characters=100_000).settings == {}


def test_words_get_small_windows_sampled_softmax_and_ngrams():
    recipe, chosen = choose(minutes=1, timed=True)
    assert recipe.data.streams * recipe.data.bptt < 1000
    assert recipe.model.ngrams == 5
    assert recipe.model.softmax_samples
    assert recipe.model.frequency_bias
    assert recipe.training.epochs == 0
    assert 0 < recipe.data.eval_tokens <= 20_000
    assert chosen["model.ngrams"] == 5


def test_a_run_without_minutes_reads_a_large_text_less_often():
    epochs = [choose(words=words)[0].training.epochs for words in (100_000, 1_000_000, 100_000_000)]
    assert epochs == sorted(epochs, reverse=True)
    assert epochs[0] > epochs[1] > epochs[2] >= 1


def test_more_minutes_mean_a_larger_network_and_more_dropout_on_a_small_text():
    short, long = (choose(minutes=minutes, timed=True)[0] for minutes in (1, 60))
    assert short.model.hidden < long.model.hidden
    small = choose(words=100_000, characters=500_000, minutes=10, timed=True)[0]
    assert small.model.dropout > short.model.dropout


@pytest.mark.parametrize(
    ("kind", "sizes"),
    [
        ("words", {999_999: 256, 1_000_000: 300, 2_999_999: 300, 3_000_000: 400}),
        ("chars", {2_999_999: 256, 3_000_000: 384}),
    ],
)
def test_a_network_has_as_many_units_as_its_rule_says_for_what_is_read(kind, sizes, monkeypatch):
    for read, hidden in sizes.items():
        monkeypatch.setattr(lm_choices, "count_read", lambda facts, read=read: read)
        assert choose(kind=kind)[0].model.hidden == hidden


def test_characters_get_one_layer_and_no_ngrams():
    short, long = (choose(kind="chars", minutes=minutes, timed=True)[0] for minutes in (1, 20))
    assert short.model.layers == long.model.layers == 1
    assert short.model.ngrams == long.model.ngrams == 0
    assert short.model.hidden < long.model.hidden
    assert short.model.dropout < long.model.dropout


def test_a_gpu_keeps_the_plain_sizes_and_counts_ngrams():
    recipe, chosen = choose(device="cuda")
    assert recipe.model.ngrams == 5
    assert "model.hidden" not in chosen


def test_rare_ngrams_of_large_texts_are_left_out_and_those_of_huge_ones_are_not_counted():
    assert [choose(words=words)[0].model.ngram_least for words in (1_000_000, 10_000_000)] == [1, 2]
    assert choose(words=100_000_000)[0].model.ngrams == 0


@pytest.mark.parametrize("facts", [{"trained": True}, {"objective": "risk"}, {"kind": "chars"}])
def test_models_that_are_trained_on_other_objectives_and_characters_have_no_ngrams_by_rule(facts):
    recipe = {"objective": {"kind": facts["objective"]}} if "objective" in facts else {}
    assert "model.ngrams" not in choose(recipe=recipe, **facts).settings


def test_what_does_not_go_with_an_option_is_left_out():
    adaptive = {"model": {"softmax": "adaptive", "tied": False}}
    recipe = choose(("model.softmax", "model.tied"), adaptive)[0]
    assert recipe.model.softmax == "adaptive"
    assert recipe.model.softmax_samples == 0
    assert recipe.model.ngrams == 5
