"""Temperature scaling: it finds the temperature that data was drawn with, and never changes an answer."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.tasks.label_decision import LabelAnswers
from elman.tasks.softmax_decision import SoftmaxDecision
from elman.tasks.temperature import Calibration, find_minimum, fit_temperature, scaled_log_softmax

NAMES = ("a", "b", "c")


def drawn(count: int, temperature: float, seed: int = 0) -> LabelAnswers:
    """Logits, and labels drawn from softmax(z / T)."""
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(count, len(NAMES), generator=generator)
    golds = torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator)[:, 0]
    return LabelAnswers(logits, golds.tolist(), NAMES)


@pytest.mark.parametrize("temperature", [0.5, 2.0, 4.0])
def test_the_temperature_that_labels_were_drawn_with_is_found(temperature):
    fitted = SoftmaxDecision().calibrate(drawn(4000, temperature)).calibration
    assert fitted.temperature == pytest.approx(temperature, rel=0.1)
    assert fitted.after.nll < fitted.before.nll
    assert fitted.after.ece < fitted.before.ece


def test_it_is_where_the_likelihood_has_its_maximum():
    answers = drawn(2000, 2.5)
    found = SoftmaxDecision().calibrate(answers).temperature
    gold = torch.tensor(answers.golds)

    def nll(temperature: float) -> float:
        return torch.nn.functional.cross_entropy(answers.logits / temperature, gold).item()

    assert nll(found) <= min(nll(found * 1.05), nll(found / 1.05))


def test_few_examples_leave_it_at_one():
    assert SoftmaxDecision().calibrate(drawn(49, 3.0)).calibration == Calibration()
    assert SoftmaxDecision().calibrate(drawn(50, 3.0)).temperature > 1


def test_validation_data_without_an_error_does_not_ask_for_probabilities_of_one():
    logits = torch.eye(3).repeat(30, 1) * 4
    fitted = SoftmaxDecision().calibrate(LabelAnswers(logits, [0, 1, 2] * 30, NAMES))
    confidence = fitted.predict(logits[:1], NAMES)[0].confidence
    assert confidence == pytest.approx(1 - 1 / 92 + 1 / 92 / 3, abs=1e-5)  # one of 92 answers is spread evenly


def test_where_the_error_would_grow_it_stays_one():
    """The first label is right as often as its probability says; another T would make the others likelier."""
    logits = torch.tensor([0.6, 0.35, 0.05]).log().repeat(100, 1)
    gold = torch.tensor([0] * 60 + [1] * 5 + [2] * 35)
    fitted = fit_temperature(lambda t: scaled_log_softmax(logits, t), gold, logits.argmax(-1))
    assert fitted == Calibration(1.0, fitted.before, fitted.before)
    assert fitted.before.ece == pytest.approx(0, abs=1e-4)


@given(
    logits=st.lists(st.lists(st.floats(-80, 80, width=32), min_size=3, max_size=3), min_size=1, max_size=5),
    temperature=st.floats(0.1, 10),
)
def test_labels_stay_and_no_probability_is_above_one(logits, temperature):
    z = torch.tensor(logits)
    plain, scaled = (SoftmaxDecision(Calibration(t)).predict(z, NAMES) for t in (1.0, temperature))
    for one, other in zip(plain, scaled, strict=True):
        assert list(one.probabilities) == list(other.probabilities)
        assert one.label == other.label
        assert all(0 <= p <= 1 for p in other.probabilities.values())
        assert sum(other.probabilities.values()) == pytest.approx(1)


def test_a_calibration_is_stored_and_read():
    fitted = SoftmaxDecision().calibrate(drawn(200, 3.0)).calibration
    assert Calibration.from_json(fitted.to_json()) == fitted
    assert Calibration.from_json({"temperature": 1.0}) == Calibration()


@given(place=st.floats(-2, 2))
def test_the_search_finds_a_minimum(place):
    assert find_minimum(lambda x: math.cosh(x - place), -3, 3) == pytest.approx(place, abs=1e-3)
