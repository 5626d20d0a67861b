"""A batch of any kind and a model of any task: the columns as they were, and those of the answers."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import elman
from elman.errors import ConfigError, DataError, ModelError
from elman.ray import Predictor
from elman.ray.bulk_predictor import given_device

pa = pytest.importorskip("pyarrow", reason='pyarrow is not installed: pip install "elman[ray]"')
pd = pytest.importorskip("pandas", reason='pandas is not installed: pip install "elman[ray]"')

TEXTS = ["when was it", "where was it", "who was it"]
ROWS = [(text, label) for text, label in zip(TEXTS, ("time", "place", "people"), strict=True)]
MORE = [(f"{text} then", label) for text, label in ROWS]  # to validate on
QUICK = {"hidden": 4, "epochs": 1}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A model of each task, barely trained."""
    place = tmp_path_factory.mktemp("models")
    elman.Classifier.train(ROWS * 4, valid=MORE, out=place / "classifier", **QUICK)
    elman.Seq2Seq.train(ROWS * 4, valid=MORE, out=place / "seq2seq", **QUICK)
    pairs, other_pairs = ([(text, text, label) for text, label in rows] for rows in (ROWS, MORE))
    elman.Pairs.train(pairs * 4, valid=other_pairs, out=place / "pairs", **QUICK)
    words, others = (
        [(text.split()[:3], ["O", "O", "B-thing"]) for text in some] for some in (TEXTS, ["is it me"])
    )
    elman.Tagger.train(words * 4, valid=others, out=place / "tagger", **QUICK)
    elman.LanguageModel.train(TEXTS * 4, valid=TEXTS, out=place / "lm", **QUICK)
    return place


def numpy_batch(columns):
    return {name: np.array(values, dtype=object) for name, values in columns.items()}


KINDS = {"numpy": numpy_batch, "pandas": pd.DataFrame, "pyarrow": pa.table}


def to_lists(batch):
    """Any batch as lists by name."""
    if isinstance(batch, pa.Table):
        return batch.to_pydict()
    return {name: list(batch[name]) for name in batch}


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_comes_back_as_it_was_with_label_and_confidence(folders, kind):
    given = {"id": [3, 1, 2], "text": TEXTS}
    batch = KINDS[kind](given)
    answered = Predictor(folders / "classifier")(batch)
    assert type(answered) is type(batch)
    expected = elman.load(folders / "classifier", elman.Classifier).classify(TEXTS)
    found = to_lists(answered)
    assert {name: found[name] for name in given} == given
    assert found["label"] == [one.label for one in expected]
    assert found["confidence"] == pytest.approx([one.confidence for one in expected], abs=1e-4)
    assert list(to_lists(batch)) == ["id", "text"]


@pytest.mark.parametrize(
    ("task", "columns", "added"),
    [
        ("classifier", {"text": TEXTS}, ["label", "confidence"]),
        ("pairs", {"first": TEXTS, "second": TEXTS}, ["label", "confidence"]),
        ("tagger", {"text": TEXTS}, ["spans"]),
        ("seq2seq", {"source": TEXTS}, ["prediction", "score"]),
    ],
)
def test_every_task_that_predicts_answers_every_row(folders, task, columns, added):
    answered = Predictor(folders / task)(pa.table(columns))
    assert answered.column_names == [*columns, *added]
    assert answered.num_rows == len(TEXTS)


def test_the_type_of_a_column_does_not_depend_on_the_batch(folders):
    tag = Predictor(folders / "tagger")
    some, none = tag(pa.table({"text": TEXTS})), tag(pa.table({"text": pa.array([None, ""], pa.string())}))
    assert some.schema == none.schema
    assert none["spans"].to_pylist() == [None, None]


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_without_text_has_no_answer(folders, kind):
    found = to_lists(Predictor(folders / "classifier")(KINDS[kind]({"text": ["when was it", None, " "]})))
    for name in ("label", "confidence"):
        assert list(pd.isna(np.array(found[name], dtype=object))) == [False, True, True]


def test_a_batch_without_rows_has_the_columns_of_the_others(folders):
    predict = Predictor(folders / "classifier")
    empty = predict(pa.table({"text": pa.array([], pa.string())}))
    assert empty.schema == predict(pa.table({"text": TEXTS})).schema


def test_a_column_that_is_there_already_stays(folders):
    found = to_lists(Predictor(folders / "classifier")(pa.table({"text": TEXTS, "label": ["a", "b", "c"]})))
    assert found["label"] == ["a", "b", "c"]
    assert set(found["label_predicted"]) <= {"time", "place", "people"}


def test_options_are_those_of_predict(folders):
    batch = {"body": np.array(TEXTS, dtype=object)}
    unsure = Predictor(folders / "classifier", text="body", threshold=1.0, otherwise="?")(batch)
    assert list(unsure["label"]) == ["?"] * 3
    two = Predictor(folders / "classifier", text="body", n_best=2)(batch)
    assert list(two) == ["body", "label", "confidence", "label_2", "confidence_2"]
    greedy = Predictor(folders / "seq2seq", text="body", beam=1)(batch)
    assert list(greedy["prediction"]) == elman.load(folders / "seq2seq", elman.Seq2Seq).translate(TEXTS, beam=1)


def test_what_cannot_be_answered_is_refused_in_one_sentence(folders):
    with pytest.raises(ModelError, match="holds a language model"):
        Predictor(folders / "lm")
    with pytest.raises(ConfigError, match="'beam' for a classifier; there are n_best, otherwise, threshold"):
        Predictor(folders / "classifier", beam=3)
    with pytest.raises(ConfigError, match="give that, too"):
        Predictor(folders / "classifier", otherwise="?")
    with pytest.raises(ConfigError, match="leave one of them out"):
        Predictor(folders / "classifier", threshold=0.5, n_best=2)
    with pytest.raises(DataError, match="'when', 'who'"):
        Predictor(folders / "classifier", text="body")({"when": np.array([]), "who": np.array([])})
    with pytest.raises(DataError, match="is this map_batches"):
        Predictor(folders / "classifier")("when was it")


@pytest.mark.parametrize(("gpus", "device"), [(["0"], "cuda"), ([], "cpu")])
def test_a_worker_uses_the_gpu_that_ray_gives_it(monkeypatch, gpus, device):
    context = SimpleNamespace(get_accelerator_ids=lambda: {"GPU": gpus})
    ray = SimpleNamespace(is_initialized=lambda: True, get_runtime_context=lambda: context)
    monkeypatch.setitem(sys.modules, "ray", ray)
    assert given_device() == device


def test_without_ray_there_is_no_gpu_to_be_given(monkeypatch):
    monkeypatch.delitem(sys.modules, "ray", raising=False)
    assert given_device() == "cpu"
