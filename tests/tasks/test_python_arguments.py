"""What a program gives the verbs of a task: a bare string is refused, a bad row named, nothing is nothing."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import elman
from elman.errors import ArgumentError
from elman.tasks.language_model.task import LanguageModelDataConfig
from elman.tasks.tagger.task import TaggerDataConfig, read_examples
from elman.text.tables import hold_rows

ROWS = [("when was that", "time"), ("what year", "time"), ("where was that", "place"), ("what town", "place")]
TINY = {"data": {"holdout": 0.0}, "model": {"embedding": 4, "hidden": 4}}


@pytest.fixture(scope="module")
def models() -> dict[str, Any]:
    """One of each task, hardly trained."""
    words = {"source": {"kind": "words"}, "target": {"kind": "words"}}
    return {
        "classifier": elman.Classifier.train(ROWS, epochs=1, recipe=TINY),
        "pairs": elman.Pairs.train([(a, "that", label) for a, label in ROWS], epochs=1, recipe=TINY),
        "tagger": elman.Tagger.train([(["Ann", "saw"], ["N", "V"])] * 4, epochs=1, recipe=TINY),
        "seq2seq": elman.Seq2Seq.train([("a b", "b a")] * 4, epochs=1, recipe=TINY | {"tokens": words}),
        "lm": elman.LanguageModel.train(["a b c"] * 9, epochs=1, recipe=TINY),
    }


LISTS = [
    ("classifier", "classify"),
    ("classifier", "predict"),
    ("pairs", "classify"),
    ("tagger", "tag"),
    ("tagger", "analyse"),
    ("tagger", "tag_columns"),
    ("seq2seq", "translate"),
    ("seq2seq", "translations"),
    ("lm", "scores"),
]


def unchecked(model: Any, verb: str) -> Callable[..., Any]:
    """The verb as a user calls it, without the type checks of the test run."""
    function = inspect.unwrap(getattr(type(model), verb))
    return lambda *given: function(model, *given)


@pytest.mark.parametrize(("task", "verb"), LISTS)
def test_a_bare_string_is_refused_a_bad_row_is_named_and_nothing_is_nothing(models, task, verb):
    """Fault 4 of issue 20: `classify("one string")` answered once a letter."""
    ask = unchecked(models[task], verb)
    with pytest.raises(ArgumentError, match=rf"^{verb} takes a list of .*: {verb}\(\["):
        ask("one string")
    with pytest.raises(ArgumentError, match=r"\[1\] is None; it must be "):
        ask([("a", "b") if task == "pairs" else "a b", None])
    assert ask([]) == []


@pytest.mark.parametrize("verb", ["score", "generate", "complete"])
def test_one_text_is_not_a_list(models, verb):
    with pytest.raises(ArgumentError, match=f"^{verb} takes one text, a string, not "):
        unchecked(models["lm"], verb)(["a b"])


def test_perplexity_is_that_of_lines(models):
    with pytest.raises(ArgumentError, match=r"^perplexity takes a list of lines: perplexity\(\['a b'\]\)$"):
        models["lm"].perplexity("a b")


def test_a_text_that_is_trained_on_and_judged_by_is_named(tmp_path):
    (tmp_path / "a.txt").write_text("a b c\n" * 20)
    file = str(tmp_path / "a.txt")
    data = LanguageModelDataConfig(train=file, valid=str(tmp_path / "." / "a.txt"), cache=str(tmp_path))
    with pytest.warns(UserWarning, match=r"a\.txt: the validation text is trained on, too"):
        elman.LanguageModel.warn_of_overlap(*elman.LanguageModel.split(data), None)


def test_marks_between_documents_are_no_sentences_in_memory_and_in_two_files(tmp_path):
    rows = [(["-DOCSTART-"], ["O"]), (["Ann", "saw"], ["N", "V"])]
    assert [e.words for e in read_examples(TaggerDataConfig(), hold_rows(rows))] == [("Ann", "saw")]
    for name, side in (("in", 0), ("out", 1)):
        (tmp_path / name).write_text("".join(" ".join(row[side]) + "\n" for row in rows))
    files = str(tmp_path / "in"), str(tmp_path / "out")
    assert [e.words for e in read_examples(TaggerDataConfig(), files)] == [("Ann", "saw")]
