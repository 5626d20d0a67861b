"""Estimators in the hands of scikit-learn: pipelines, cross-validation, grid search, pickles."""

import pickle
from dataclasses import fields

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import elman
from elman.sklearn import Classifier, Tagger
from elman.sklearn.estimator import Estimator
from elman.tasks.user_methods import TrainOptions

TEXTS = [f"the {animal} {letter}" for animal in ("bird", "mole") for letter in "abcdefgh"]
LABELS = [7] * 8 + [3] * 8
WORDS = [sentence.split() for sentence in ("the dog barks", "a cat sleeps", "he sees the dog")] * 4
TAGS = [tags.split() for tags in ("D N V", "D N V", "P V D N")] * 4
QUICK = {"hidden": 8, "lr": 0.02, "epochs": 4, "recipe": {"data": {"holdout": 0.0}}}


@pytest.fixture(scope="module")
def classifier():
    return Classifier(**QUICK).fit(TEXTS, LABELS)


@pytest.fixture(scope="module")
def tagger():
    return Tagger(**QUICK).fit(WORDS, TAGS)


def test_the_model_is_the_one_that_elman_trains(classifier):
    rows = [(text, str(label)) for text, label in zip(TEXTS, LABELS, strict=True)]
    own = elman.Classifier.train(rows, **QUICK).classify(TEXTS)
    assert classifier.classes_.tolist() == [3, 7]
    for row, found in zip(classifier.predict_proba(TEXTS), own, strict=True):
        assert row.tolist() == [found.probabilities["3"], found.probabilities["7"]]


def test_probabilities_decisions_and_labels_agree(classifier):
    chances = classifier.predict_proba(TEXTS)
    assert chances.sum(1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)
    assert classifier.decision_function(TEXTS) == pytest.approx(np.log(chances[:, 1] / chances[:, 0]), abs=1e-5)
    assert classifier.predict(TEXTS).tolist() == classifier.classes_[chances.argmax(1)].tolist()
    assert classifier.score(TEXTS, LABELS) == np.mean(classifier.predict(TEXTS) == LABELS)
    assert classifier.predict_proba([]).shape == (0, 2)


@pytest.mark.parametrize("make", [list, tuple, np.array, lambda X: np.array(X, object), "series"])
def test_texts_may_be_lists_arrays_or_series(classifier, make):
    if make == "series":
        pandas = pytest.importorskip("pandas")
        given = pandas.Series(TEXTS, index=range(100, 100 + len(TEXTS)))
    else:
        given = make(TEXTS)
    assert classifier.predict(given).tolist() == classifier.predict(TEXTS).tolist()


@pytest.mark.parametrize(
    ("X", "said"),
    [
        ("one text", "X is one text; give a list of texts"),
        (["a", None], r"X\[1\] is None; it must be a text"),
        (np.array([["a"], ["b"]]), r"X has the shape \(2, 1\); expected one text a row"),
    ],
)
def test_what_is_no_list_of_texts_is_refused(classifier, X, said):
    for call in (classifier.predict, lambda X: Classifier(**QUICK).fit(X, [0, 1])):
        with pytest.raises(ValueError, match=said):
            call(X)


def test_options_are_those_of_training():
    names = {field.name for field in fields(Estimator)} - {"recipe", "verbose"}
    assert names <= TrainOptions.__annotations__.keys()
    with pytest.raises(elman.ConfigError, match="epochs is 0; it must be at least 1"):
        Classifier(epochs=0).fit(TEXTS, LABELS)


def test_a_clone_is_unfitted_and_has_the_same_parameters(classifier):
    copy = clone(classifier).set_params(hidden=5)
    assert copy.get_params() == {**classifier.get_params(), "hidden": 5}
    with pytest.raises(NotFittedError):
        copy.predict(TEXTS)


def test_a_pickle_answers_the_same_and_holds_the_files_of_the_model(classifier, tagger):
    again = pickle.loads(pickle.dumps(classifier))
    assert (again.predict_proba(TEXTS) == classifier.predict_proba(TEXTS)).all()
    assert "model.safetensors" in classifier.__getstate__()["model_"][1]
    assert pickle.loads(pickle.dumps(tagger)).predict(WORDS).tolist() == tagger.predict(WORDS).tolist()


def test_in_a_pipeline_with_cross_validation():
    pipeline = make_pipeline(FunctionTransformer(lower), Classifier(**QUICK))
    scores = cross_val_score(pipeline, np.array(TEXTS, object), LABELS, cv=2)
    assert len(scores) == 2
    assert scores.min() > 0.6


def lower(texts):
    return [text.lower() for text in texts]


def test_a_grid_search_finds_what_learns_best():
    recipe = QUICK["recipe"] | {"model": {"ngrams": False}}  # they need no epoch
    search = GridSearchCV(Classifier(**QUICK), {"epochs": [1, 6], "recipe": [recipe]}, cv=2)
    search.fit(TEXTS, LABELS)
    assert search.best_params_["epochs"] == 6
    assert search.best_estimator_.score(TEXTS, LABELS) > 0.9


def test_a_matrix_of_labels_gives_a_text_several_or_none():
    texts = [f"{a} {b} c" for a in ("red", "no") for b in ("big", "no")] * 4
    y = np.array([[int("red" in text), int("big" in text)] for text in texts])
    model = Classifier(**{**QUICK, "epochs": 20}).fit(texts, y)
    assert model.predict(texts).tolist() == y.tolist()
    chances = model.predict_proba(texts)
    assert chances.shape == y.shape
    assert [one.probabilities["1"] for one in model.model_.classify(texts)] == chances[:, 1].tolist()
    assert ((model.decision_function(texts) > 0) == (chances > 0.5)).all()
    assert model.score(texts, y) == 1.0


def test_training_is_silent_unless_asked(capsys):
    Classifier(**QUICK).fit(TEXTS, LABELS)
    assert capsys.readouterr() == ("", "")
    Classifier(**QUICK, verbose=True).fit(TEXTS, LABELS)
    assert capsys.readouterr().err


def test_a_tagger_tags_and_is_scored_by_its_own_metric(tagger):
    assert tagger.predict(WORDS).tolist() == tagger.model_.tag(WORDS)
    assert tagger.predict(WORDS[:2]).shape == (2,)  # of sentences of one length, too
    assert tagger.classes_.tolist() == ["D", "N", "P", "V"]
    assert (
        tagger.score(WORDS, TAGS) == tagger.model_.evaluate([*zip(WORDS, TAGS, strict=True)])["accuracy"] / 100
    )


def test_a_tagger_is_cross_validated():
    assert len(cross_val_score(Tagger(**QUICK), WORDS, TAGS, cv=2)) == 2
    found = cross_val_predict(Tagger(**QUICK), np.array(WORDS, object), TAGS, cv=2)
    assert [*map(len, found)] == [*map(len, TAGS)]


@pytest.mark.parametrize(
    ("X", "y", "said"),
    [
        (["the dog"], [["D", "N"]], r"X\[0\] is 'the dog'; it must be a list of strings"),
        ([["the", "dog"]], [["D", 1]], r"y\[0\] is \['D', 1\]; it must be a list of strings"),
        ([["the"], ["dog"]], [["D"]], "inconsistent numbers of samples"),
        ([["the"]], None, "requires y to be passed"),
    ],
)
def test_what_are_no_sentences_is_refused(X, y, said):
    with pytest.raises(ValueError, match=said):
        Tagger(**QUICK).fit(X, y)
