"""Fits of errors over sizes: exact on a power law, silent on anything else."""

import numpy as np
import pytest

from elman.cli.curve_report import describe_forecast
from elman.pipeline.learning_curve import CurvePoint, LearningCurve
from elman.pipeline.power_law import FIT, MISS, PowerLaw, error_of, fit_power_law, score_of

SIZES = (100, 200, 400, 700, 1000)


def curve(metric: str, errors) -> LearningCurve:
    points = [CurvePoint(n / 1000, n, (score_of(metric, e),)) for n, e in zip(SIZES, errors, strict=True)]
    return LearningCurve(metric, "examples", tuple(points))


@pytest.mark.parametrize("metric", ["accuracy", "perplexity", "edit_rate"])
def test_a_power_law_is_found_and_carried_on(metric):
    errors = [90.0 * n**-0.4 for n in SIZES]
    found = curve(metric, errors)
    law = found.fit()
    assert (law.scale, law.exponent, law.r2) == (pytest.approx(90), pytest.approx(0.4), pytest.approx(1))
    assert law.missed == pytest.approx(0, abs=1e-9)
    assert found.forecast() == pytest.approx(score_of(metric, 90 * 2000**-0.4))
    assert "2,000 examples" in describe_forecast(found)


@pytest.mark.parametrize(
    "errors",
    [
        [30, 20, 15, 14.9, 14.8],
        [14.3, 10.8, 8.2, 6.6, 7.2],
        [10, 30, 12, 25, 11],
        [10, 12, 14, 16, 18],
        [20] * 5,
        [30, 22, 27, 19, 20],  # the last one is foretold, by chance
    ],
    ids=str,
)
def test_what_does_not_fall_as_a_power_law_gives_no_forecast(errors):
    found = curve("accuracy", errors)
    assert not found.fit().good
    assert found.forecast() is None
    assert "power law" in describe_forecast(found)


def test_what_a_fit_says_of_itself_is_what_least_squares_of_logarithms_gives():
    errors = [30.0, 24.0, 15.0, 14.0, 9.0]
    x, y = np.log(SIZES), np.log(errors)
    law = fit_power_law(SIZES, errors)
    slope, level = np.polyfit(x, y, 1)
    assert (law.exponent, law.scale) == (pytest.approx(-slope), pytest.approx(np.exp(level)))
    assert law.r2 == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2)
    assert 0.9 < law.r2 < 0.99
    before = np.poly1d(np.polyfit(x[:-1], y[:-1], 1))
    assert law.missed == pytest.approx(abs(np.exp(before(x[-1])) / errors[-1] - 1))
    assert law.error(1000) == pytest.approx(np.exp(level) * 1000**slope)


def test_a_law_is_believed_up_to_its_limits():
    assert PowerLaw(1.0, 0.01, FIT, MISS).good
    for wrong in ((0.0, FIT, MISS), (-0.1, FIT, MISS), (0.01, FIT - 0.01, MISS), (0.01, FIT, MISS + 0.01)):
        assert not PowerLaw(1.0, *wrong).good


def test_perfect_scores_and_too_few_sizes_give_no_fit():
    assert fit_power_law(SIZES, [3, 2, 1, 0.5, 0]) is None
    assert fit_power_law(SIZES[:3], [3, 2, 1]) is None
    assert fit_power_law((9, 9, 9, 9, 9), [3, 2, 1, 1, 1]) is None


@pytest.mark.parametrize("metric", ["accuracy", "perplexity", "bleu", "nats_per_token"])
def test_an_error_is_a_score_again(metric):
    assert score_of(metric, error_of(metric, 42.0)) == pytest.approx(42.0)
