"""Two models on the same examples."""

from dataclasses import replace

import numpy as np
import pytest

from elman.errors import ConfigError
from elman.inspect import compare_models, judge_examples, model_comparison
from elman.metrics import compare_by_bootstrap
from tests.inspect.models import classifier, lm, tagger
from tests.inspect.test_seq2seq_reader import fresh as translator
from tests.tasks import names, topics


def test_a_comparison_has_the_scores_of_both_and_counts_what_one_alone_got_right():
    a, b = classifier(), classifier(pool="mean")
    rows = [(e.text, e.label) for e in topics.examples(60, seed=5)]
    found = compare_models(judge_examples(a, rows), judge_examples(b, rows))
    said = [
        [p.label == label for p, (_, label) in zip(m.classify([t for t, _ in rows]), rows, strict=True)]
        for m in (a, b)
    ]
    right = np.array(said)
    assert (found.count, found.unit) == (60, "examples")
    assert found.only_a == (right[0] & ~right[1]).sum()
    assert found.only_b == (right[1] & ~right[0]).sum()
    for model, side in ((a, "a"), (b, "b")):
        scores = model.evaluate(rows)
        for name in ("accuracy", "macro_f1"):
            assert getattr(found.scores[name], side) == pytest.approx(scores[name])
    assert found.scores["accuracy"].difference == pytest.approx(100 * (found.only_b - found.only_a) / 60)


def test_bleu_is_compared_by_bootstrap_and_edits_by_permutation(monkeypatch):
    a, b = translator(), translator(decoder="plain")
    rows = [("one red dog", "eins rot Hund"), ("two", "zwei"), ("big cat", "groß Katze")]
    left, right = judge_examples(a, rows), judge_examples(b, rows)
    found = compare_models(left, right)
    assert set(found.scores) == {"bleu", "chrf", "exact", "edit_rate"}
    assert found.scores["chrf"] == compare_by_bootstrap(left.scores["chrf"], right.scores["chrf"])
    assert found.scores["bleu"].a == pytest.approx(left.report.scores["bleu"])
    assert found.scores["chrf"].a == pytest.approx(left.report.scores["chrf"])
    assert found.scores["edit_rate"].a == pytest.approx(left.report.scores["edit_rate"])
    called: list[str] = []
    for name in ("bootstrap", "permutation"):
        real = getattr(model_comparison, f"compare_by_{name}")
        compare = lambda *scores, name=name, real=real: called.append(name) or real(*scores)  # noqa: E731
        monkeypatch.setattr(model_comparison, f"compare_by_{name}", compare)
    assert dict(zip(compare_models(left, right).scores, called, strict=True)) == {
        **dict.fromkeys(("bleu", "chrf"), "bootstrap"),
        **dict.fromkeys(("exact", "edit_rate"), "permutation"),
    }


def test_taggers_are_compared_by_spans_and_by_tags():
    some = names.examples(20, seed=2)
    a, b = tagger("crf"), tagger("softmax")
    judged = [model.judge(model.encode(some), lambda *_: None) for model in (a, b)]
    found = compare_models(*judged)
    for name in ("f1", "accuracy"):
        assert found.scores[name].a == pytest.approx(judged[0].report.scores[name])
    assert found.unit == "sentences"


def test_language_models_are_compared_by_line_and_by_token_only_with_the_same_tokens():
    lines = ["once upon a tide", "the end"]
    words, chars = judge_examples(lm("words"), lines), judge_examples(lm("chars"), lines)
    assert set(compare_models(words, words).scores) == {"perplexity", "nats_per_line"}
    found = compare_models(words, chars)
    assert set(found.scores) == {"nats_per_line"}
    assert "per token" in found.note
    assert found.only_a is None


def test_scores_that_only_one_model_has_are_left_out():
    rows = [(e.text, e.label) for e in topics.examples(20, seed=5)]
    one = judge_examples(classifier(), rows)
    less = replace(one, count=lambda: {"accuracy": one.scores["accuracy"]})
    for a, b in ((one, less), (less, one)):
        assert set(compare_models(a, b).scores) == {"accuracy"}


def test_where_tokens_differ_it_is_said_how_many_were_unknown():
    judged = judge_examples(lm("words"), ["once upon a tide", "the end"])
    a = replace(judged, vocabulary=("a",), tokens=np.array([5, 3]), unseen=np.array([1, 1]))
    b = replace(judged, vocabulary=("b",), tokens=np.array([50, 30]), unseen=None)
    note = compare_models(a, b).note
    assert note.endswith("unknown tokens cost little: 25.0% in A, 0.0% in B")


def test_other_examples_are_refused():
    model = classifier()
    rows = [(e.text, e.label) for e in topics.examples(6)]
    with pytest.raises(ConfigError, match="6 and 5"):
        compare_models(judge_examples(model, rows), judge_examples(model, rows[:5]))
