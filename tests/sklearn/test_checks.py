"""scikit-learn's own checks of an estimator, as far as they can be run on texts.

They give numbers. So a classifier that reads each row of numbers as a text is checked: all that it does besides
is the classifier's own. What is left out, and why, stands in `LEFT_OUT`. For the texts themselves scikit-learn
has no checks: of an estimator whose input is no table it looks at the interface alone.
"""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")
from sklearn.exceptions import SkipTestWarning  # noqa: E402
from sklearn.utils.estimator_checks import (  # noqa: E402
    check_do_not_raise_errors_in_init_or_set_params,
    check_estimator,
    check_estimator_repr,
    check_estimator_tags_renamed,
    check_get_params_invariance,
    check_mixin_order,
    check_no_attributes_set_in_init,
    check_parameters_default_constructible,
    check_set_params,
    check_valid_tag_types,
    parametrize_with_checks,
)
from sklearn.utils.validation import check_is_fitted, validate_data  # noqa: E402

from elman.sklearn import Classifier, Tagger  # noqa: E402

TINY = {"hidden": 4, "epochs": 1, "recipe": {"data": {"holdout": 0.0}, "model": {"embedding": 4}}}
LEFT_OUT = {"check_array_api_input": "texts are no arrays of numbers"}
INTERFACE = (
    check_do_not_raise_errors_in_init_or_set_params,
    check_estimator_repr,
    check_estimator_tags_renamed,
    check_get_params_invariance,
    check_mixin_order,
    check_no_attributes_set_in_init,
    check_parameters_default_constructible,
    check_set_params,
    check_valid_tag_types,
)


@dataclass(kw_only=True, eq=False, repr=False)
class NumberClassifier(Classifier):
    """A row of numbers is a text: 0:3 1:-1."""

    def fit(self, X, y):
        if y is not None:
            X, _ = validate_data(self, X, y, multi_output=True)
        return super().fit(spell(X), y)

    def _answer(self, X):
        check_is_fitted(self)
        return super()._answer(spell(validate_data(self, X, reset=False)))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        tags.input_tags.one_d_array = tags.input_tags.string = False
        return tags


def spell(rows):
    return [" ".join(f"{i}:{round(value)}" for i, value in enumerate(row)) for row in np.asarray(rows, float)]


@parametrize_with_checks([NumberClassifier(**TINY)], expected_failed_checks=lambda estimator: LEFT_OUT)
@pytest.mark.filterwarnings("ignore")
def test_a_classifier_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", [Classifier(**TINY), Tagger(**TINY)], ids=["Classifier", "Tagger"])
@pytest.mark.parametrize("check", INTERFACE, ids=lambda check: check.__name__)
def test_the_estimators_of_texts_have_the_interface_of_scikit_learn(estimator, check):
    check(type(estimator).__name__, estimator)


@pytest.mark.parametrize("estimator", [Classifier(), Tagger()], ids=["Classifier", "Tagger"])
def test_check_estimator_says_that_texts_are_not_what_it_can_make(estimator):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        results = check_estimator(estimator)
    assert [result["status"] for result in results] == ["passed"]
    assert any(issubclass(warning.category, SkipTestWarning) for warning in said)
