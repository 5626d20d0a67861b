"""The score that chooses the best weights of a classifier, and is told first."""

import pytest

from elman.errors import ConfigError
from tests.tasks.test_multilabel import fresh_multi
from tests.tasks.topics import examples, fresh


@pytest.mark.parametrize("metric", ["accuracy", "macro_f1"])
def test_the_metric_that_is_asked_for_counts_and_is_told_first(metric):
    model = fresh(metric=metric)
    data = model.encode(examples(9))
    told = [model.validate(data), model.evaluate_dataset(data), model.report(data, lambda *_: None).scores]
    told += [model.calibrate(data), model.judge(data, lambda *_: None).report.scores]
    assert model.metric == metric
    assert {next(iter(scores)) for scores in told} == {metric}


def test_without_one_it_is_accuracy_or_micro_f1():
    assert fresh().metric == "accuracy"
    assert fresh_multi().metric == "micro_f1"


@pytest.mark.parametrize("metric", ["micro_f1", "exact"])
def test_a_metric_of_several_labels_is_refused_for_one(metric):
    with pytest.raises(ConfigError, match="for one label a text take accuracy or macro_f1"):
        fresh(metric=metric)


def test_accuracy_is_refused_for_several_labels():
    with pytest.raises(ConfigError, match="for several labels a text take micro_f1 or macro_f1 or exact"):
        fresh_multi(metric="accuracy")
