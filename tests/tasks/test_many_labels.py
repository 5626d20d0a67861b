"""A hundred thousand labels: nothing has a row for each text and a column for each label that need not."""

from __future__ import annotations

import pytest
import torch

from elman.errors import ConfigError
from elman.pipeline.choose_defaults import choose_settings
from elman.pipeline.default_facts import Facts
from elman.pipeline.recipe import build
from elman.tasks.label_decision import LabelAnswers
from elman.tasks.softmax_decision import SoftmaxDecision
from tests.tasks import topics

MANY = 300_000


def test_weights_of_labels_take_no_table_of_texts_and_labels():
    golds = [i % 100_000 for i in range(MANY)]
    weights = SoftmaxDecision().weigh(golds, 100_000)
    assert torch.equal(weights, torch.ones(100_000))
    assert SoftmaxDecision().weight(golds, weights) == MANY


def test_guesses_and_ids_weigh_labels_alike():
    decision, ids = SoftmaxDecision(), [0, 2, 2, 1, 2]
    guesses = [torch.eye(4)[i] for i in ids]
    torch.testing.assert_close(decision.weigh(ids, 4), decision.weigh(guesses, 4))
    weights = torch.tensor([1.0, 2.0, 4.0, 8.0])
    assert decision.weight(ids, weights) == decision.weight(guesses, weights) == 15


@pytest.mark.parametrize(("labels", "said"), [(1000, True), (1001, False)])
def test_a_matrix_of_confusions_is_for_labels_that_somebody_can_read(labels, said):
    names = tuple(f"L{i}" for i in range(labels))
    report = SoftmaxDecision().report(LabelAnswers(torch.eye(labels), [*range(labels)], names))
    assert ("confusion" in report.record, len(report.tables)) == (said, 1 + said)
    assert report.scores["accuracy"] == 100


@pytest.mark.parametrize(("examples", "ngrams"), [(50_000, True), (50_001, False)])
def test_n_grams_are_left_out_where_texts_and_labels_are_too_many(examples, ngrams):
    facts = Facts(
        task="classifier", examples=examples, words=10 * examples, classes={str(i): 9 for i in range(2000)}
    )
    recipe = build({"task": "classifier", "data": {"train": "a.tsv"}})
    assert choose_settings(recipe, (), facts).settings["model.ngrams"] is ngrams


def test_n_grams_that_do_not_fit_are_refused_with_the_option_to_change(monkeypatch):
    monkeypatch.setattr("elman.free_memory.free_memory", lambda device="cpu": 100.0)
    model = topics.fresh(ngrams=True)
    with pytest.raises(ConfigError, match=r"the n-grams of 40 texts × 2 labels .*--set model\.ngrams=false"):
        model.fit_statistics(model.encode(topics.examples(40)))


def test_scores_of_many_texts_are_asked_for_by_what_they_take(monkeypatch):
    asked = []
    monkeypatch.setattr("elman.tasks.label_task._MUCH", 12 * 5 * 2 - 1)
    monkeypatch.setattr("elman.tasks.label_task.check_memory", lambda *given: asked.append(given))
    model = topics.fresh()
    for count in (4, 5):
        model.classify(["when"] * count)
    assert asked == [(12 * 5 * 2, "the scores of 5 texts × 2 labels", "give fewer texts at once")]
