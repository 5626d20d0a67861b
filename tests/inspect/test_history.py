"""The log of a training run, read back."""

import json
import math

import numpy as np
import pytest

from elman.errors import ModelError
from elman.inspect.history import read_history, running_mean
from elman.inspect.plots import plot_history
from elman.training.events import Evaluation, Update
from elman.training.metrics_log import MetricsLog


def logged(path, *events):
    log = MetricsLog(path)
    for event in events:
        log.show(event)
    log.close()
    return read_history(path)


def update(number, epoch, loss):
    return Update(number, epoch, 0.0, loss, 0.1, 1.0, 1.0)


def test_what_training_logs_is_what_is_read(tmp_path):
    found = logged(
        tmp_path / "log",
        update(1, 1, 2.0),
        Evaluation(1, {"accuracy": 50.0}, "accuracy", True),
        update(2, 2, math.inf),
        Evaluation(2, {"accuracy": 60.0}, "accuracy", True),
        update(3, 3, 1.0),
        Evaluation(3, {"accuracy": 55.0}, "accuracy", False),
    )
    assert found.updates.tolist() == [1, 2, 3]
    np.testing.assert_array_equal(found.losses, [2.0, np.nan, 1.0])
    assert found.epochs == 3
    assert (found.best.update, found.best.epoch, found.best.scores["accuracy"]) == (2, 2, 60.0)


@pytest.mark.parametrize("line", ["[1]", "{", '{"update": 1}', '{"scores": {}}', '{"loss": "x"}'])
def test_a_damaged_line_is_named(tmp_path, line):
    path = tmp_path / "log"
    good = json.dumps({"update": 1, "epoch": 1, "loss": 1.0})
    path.write_text(f"{good}\n{line}\n")
    with pytest.raises(ModelError, match=r"log:2: the file is damaged"):
        read_history(path)


def test_the_running_mean_is_that_of_the_last_values():
    found = running_mean(np.array([1.0, 3.0, 5.0, 7.0]), 2)
    np.testing.assert_allclose(found, [1.0, 2.0, 4.0, 6.0])


@pytest.mark.parametrize("evaluated", [True, False])
def test_a_learning_curve_can_be_drawn_whatever_was_logged(tmp_path, evaluated):
    scores = {"perplexity": math.nan}
    rest = [Evaluation(1, scores, "perplexity", False)] if evaluated else []
    history = logged(tmp_path / "log", update(1, 1, math.nan), *rest)
    plot_history(history, "perplexity", tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes()[1:4] == b"PNG"
