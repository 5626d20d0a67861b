"""Wrong answers: which they are, in which order, and reasons that a difference quotient confirms."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from elman.errors import ConfigError
from elman.inspect import mistakes as looking
from elman.inspect.mistake_file import write_mistakes
from elman.inspect.mistakes import ExplainedMistake, explain_mistakes
from elman.tasks.classifier.task import Classifier, ClassifierConfig, ClassifierExample
from elman.tasks.config import TokenizerConfig
from elman.tasks.pairs.task import PairsExample
from elman.tasks.seq2seq.loss import nll
from elman.tasks.seq2seq.task import Seq2SeqExample
from elman.tasks.tagger.analysis import Tagging
from elman.tasks.tagger.task import TaggerExample
from elman.text.spans import tags_to_spans
from elman.text.vocab import EOS
from tests.inspect.models import classifier, lm, logits, slope, tagger
from tests.inspect.test_saliency import LOG_ODDS
from tests.inspect.test_seq2seq_reader import fresh as translator
from tests.tasks import names, topics
from tests.tasks.names import OUTPUTS
from tests.tasks.parts import fresh_multi, multi_examples
from tests.tasks.test_pairs import fresh as pairs_model

QUIET = lambda *_: None  # noqa: E731


def judge(model, examples):
    return model.judge(model.encode(examples), QUIET)


def heaviest(tokens, weights):
    order = np.argsort(-np.abs(weights), kind="stable")[:5]
    return [tokens[i] for i in order], [weights[i] for i in order]


def test_the_mistakes_of_a_classifier_are_its_wrong_answers_the_surest_first():
    model, some = classifier(), topics.examples(60, seed=5)
    found = explain_mistakes(model, judge(model, some))
    said = model.classify([e.text for e in some])
    wrong = [(p.confidence, e) for p, e in zip(said, some, strict=True) if p.label != e.label]
    wrong.sort(key=lambda pair: -pair[0])
    assert 0 < len(wrong) < 60
    assert [(m.record["where"], m.record["text"], m.record["gold"]) for m in found] == [
        (e.where, e.text, e.label) for _, e in wrong
    ]
    assert [m.record["confidence"] for m in found] == pytest.approx([sure for sure, _ in wrong])
    assert all(m.record["predicted"] != m.record["gold"] for m in found)


def test_the_reason_for_a_wrong_label_is_how_its_log_odds_grow_with_each_token():
    model, some = classifier(layers=2), topics.examples(40, seed=5)
    for mistake in explain_mistakes(model, judge(model, some)):
        text, items = mistake.record["text"], model.labels.items
        said, gold = (items.index(mistake.record[name]) for name in ("predicted", "gold"))

        def score(text=text, said=said, gold=gold):
            z = logits(model, text)
            return z[said] - z[gold]

        words = text.split()
        quotients = [slope(score, model.net.words, i) for i in range(len(words))]
        tokens, weights = zip(*mistake.why, strict=True)
        np.testing.assert_allclose(weights, heaviest(words, quotients)[1], rtol=1e-4, atol=1e-8)
        assert len(tokens) == min(5, len(words))


def test_the_reasons_of_a_pair_are_tokens_of_both_texts():
    model = pairs_model()
    model.net.double()
    labels = model.labels.items
    texts = [("one dog", "a cat is here"), ("two cats here now", "no"), ("red", "blue or green")]
    some = [PairsExample(*pair, label, "f:1") for pair in texts for label in labels]
    found = explain_mistakes(model, judge(model, some))
    assert len(found) == len(some) - len(texts)
    assert {"where", "first", "second", "gold", "predicted", "confidence"} == found[0].record.keys()
    for mistake in found:
        words = {*mistake.record["first"].split(), *mistake.record["second"].split()}
        assert {token for token, _ in mistake.why} <= words


@pytest.mark.parametrize("output", OUTPUTS)
def test_the_reason_for_a_wrong_tag_is_how_its_log_odds_grow_with_each_word(output):
    model = tagger(output, layers=2)
    words, tags = ("the", "dog", "saw", "Ann", "Smith"), model.tagsets[0].labels.items
    answers = [tags.index(tag) for tag in model.tagsets[0].convert(model.tag([words])[0])]
    gold = ["O"] * 5 if model.tag([words])[0] != ["O"] * 5 else ["O", "O", "O", "B-PER", "I-PER"]
    some = [TaggerExample(words, (tuple(gold),), ("ner",), "mine:1"), *names.examples(3)]
    found = [m for m in explain_mistakes(model, judge(model, some)) if m.record["where"] == "mine:1"]
    assert found
    step, close = (3e-3, 2e-3) if output == "autoregressive" else (1e-5, 1e-5)
    right = [tags.index(tag) for tag in model.tagsets[0].convert(gold)]
    for mistake in found:
        place = mistake.record["word"] - 1
        while right[place] == answers[place]:
            place += 1
        pair = answers[place], right[place]
        quotients = [
            slope(
                lambda p=place, q=pair: LOG_ODDS[output](model, words, p, q, answers),
                model.net.words,
                i,
                e=step,
            )
            for i in range(5)
        ]
        _, weights = zip(*mistake.why, strict=True)
        np.testing.assert_allclose(weights, heaviest(words, quotients)[1], rtol=close, atol=close)


@pytest.mark.parametrize("columns", [("ner",), ("pos", "ner")])
def test_a_wrong_tag_says_in_which_column_it_stands_where_there_are_several(columns):
    model = names.fresh(columns=columns)
    wrong = judge(model, names.examples(5, columns=columns)).mistakes()
    named = {mistake.record.get("column") for mistake in wrong}
    assert named == ({None} if len(columns) == 1 else {*columns})


def test_overlapping_spans_are_one_mistake_and_others_are_their_own(monkeypatch):
    model = tagger("crf")
    words = ("Ann", "Smith", "saw", "New", "York", "in", "York")
    gold = ("B-PER", "I-PER", "O", "B-LOC", "I-LOC", "O", "B-LOC")
    said = ["B-PER", "O", "O", "O", "O", "B-LOC", "O"]
    dataset = model.encode([TaggerExample(words, (gold,), ("ner",), "f:7")])
    spans = [(span, 0.5) for span in tags_to_spans(said)]
    answer = Tagging(said, [0.9, 0.8, 0.7, 0.6, 0.95, 0.5, 0.4], spans, [])
    monkeypatch.setattr(type(model), "analyse_rows", lambda *_, **__: [[answer]])
    judged = model.judge(dataset, QUIET)
    rows = [
        (m.record["word"], m.record["gold"], m.record["predicted"], m.record["confidence"], m.record["context"])
        for m in sorted(judged.mistakes(), key=lambda m: m.record["word"])
    ]
    assert rows == [
        (1, "PER: Ann Smith", "PER: Ann", 0.5, "[Ann Smith] saw New York in York"),
        (4, "LOC: New York", "O", 0.6, "Ann Smith saw [New York] in York"),
        (6, "O", "LOC: in", 0.5, "Ann Smith saw New York [in] York"),
        (7, "LOC: York", "O", 0.4, "Ann Smith saw New York in [York]"),
    ]


@pytest.mark.parametrize(
    "options", [{}, {"decoder": "plain"}, {"copying": True, "label_smoothing": 0.0}], ids=str
)
def test_the_reason_for_a_wrong_translation_is_how_its_first_wrong_token_grows_likelier(options):
    model = translator(**options)
    some = [Seq2SeqExample("one red dog", ("eins rot Hund",), "f:1"), Seq2SeqExample("two", ("zwei",), "f:2")]
    for mistake in explain_mistakes(model, judge(model, some)):
        source, target = mistake.record["source"], mistake.record["target"]
        row = model.encode_pair(source, target)
        items = [*model.tokenizers.target.items, *row.unknown]
        said = [*(items.index(t) for t in model.translations([source])[0][0].tokens), EOS]
        place = next(i for i, (a, b) in enumerate(zip(said, row.target, strict=False)) if a != b)

        def score(row=row, place=place, said=said):
            right = model.collate([row])
            wrong = model.collate([row._replace(target=said[: place + 1])])
            return nll(model.net, right)[0, place] - nll(model.net, wrong)[0, place]

        words = source.split()
        quotients = [slope(score, model.net.reads, i) for i in range(len(words))]
        _, weights = zip(*mistake.why, strict=True)
        np.testing.assert_allclose(weights, heaviest(words, quotients)[1], rtol=1e-4, atol=1e-7)


def test_wrong_translations_are_ranked_by_their_edits():
    model = translator()
    some = [
        Seq2SeqExample(s, (t,), f"f:{i}") for i, (s, t) in enumerate([("one", "eins zwei"), ("red dog", "x")])
    ]
    rates = [m.record["edit_rate"] for m in explain_mistakes(model, judge(model, some))]
    assert rates == sorted(rates, reverse=True)


def test_only_so_many_are_explained_and_a_batch_changes_no_reason(monkeypatch):
    model, some = classifier(), topics.examples(60, seed=5)
    judged = judge(model, some)
    every = explain_mistakes(model, judged)
    few = explain_mistakes(model, judged, most=4)
    assert [m.why is not None for m in few] == [True] * 4 + [False] * (len(every) - 4)
    monkeypatch.setattr(looking, "TOGETHER", 1)
    for one, other in zip(explain_mistakes(model, judged), every, strict=True):
        np.testing.assert_allclose([n for _, n in one.why], [n for _, n in other.why])
        assert [t for t, _ in one.why] == [t for t, _ in other.why]


def test_what_cannot_be_explained_is_shown_without_reasons():
    model = classifier()
    judged = judge(model, topics.examples(60, seed=5))
    first, second, third = judged.find_mistakes()[:3]
    some = replace(judged, mistakes=lambda: [first, second._replace(about=None), third])
    assert [m.why is not None for m in explain_mistakes(model, some)] == [True, False, True]


def test_a_language_model_has_no_wrong_answers():
    model = lm()
    with pytest.raises(ConfigError, match="elman score"):
        explain_mistakes(model, judge(model, ["once upon"]))


ROWS = [
    ExplainedMistake(
        {"where": "f:1", "text": 'a\t"b"\nc', "confidence": 0.25}, (("a", 1.5), ("c", -0.5), ("d", 0.004))
    ),
    ExplainedMistake({"where": "f:2", "text": "d", "confidence": 0.125}, None),
]


def test_a_file_of_mistakes_reads_back(tmp_path):
    write_mistakes(ROWS, tmp_path / "e.jsonl")
    first, second = map(json.loads, (tmp_path / "e.jsonl").read_text().splitlines())
    assert first == {**ROWS[0].record, "why": [{"token": t, "nats": n} for t, n in ROWS[0].why]}
    assert second["why"] is None
    write_mistakes(ROWS, tmp_path / "e.csv")
    with open(tmp_path / "e.csv", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["where", "text", "confidence", "why"]
    assert rows == [["f:1", 'a\t"b"\nc', "0.2500", "a +1.50, c -0.50"], ["f:2", "d", "0.1250", ""]]
    write_mistakes(ROWS, tmp_path / "e.tsv")
    lines = (tmp_path / "e.tsv").read_text().splitlines()
    assert lines[1] == 'f:1\ta "b" c\t0.2500\ta +1.50, c -0.50'
    write_mistakes([], tmp_path / "none.tsv")
    assert (tmp_path / "none.tsv").read_text() == "why\n"


def test_a_name_without_a_known_ending_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"\.jsonl"):
        write_mistakes(ROWS, tmp_path / "e.txt")
    with pytest.raises(ConfigError, match="no folder"):
        write_mistakes(ROWS, tmp_path / "nowhere" / "e.tsv")


def test_looking_at_mistakes_leaves_no_trace():
    model = classifier(dropout=0.5)
    model.net.train()
    explain_mistakes(model, judge(model, topics.examples(20)))
    assert model.net.training
    assert all(weight.grad is None for weight in model.net.parameters())
    assert not any(module._forward_hooks for module in model.net.modules())
    assert torch.is_grad_enabled()


def test_confusions_stand_in_the_place_of_a_matrix_that_is_too_wide():
    some = [ClassifierExample(f"word{i} of it", f"label{i}", f"f:{i}") for i in range(15)]
    model = Classifier.from_examples(ClassifierConfig(**topics.TINY), TokenizerConfig(), some)
    report = judge(model, some).report
    titles = [table.title for table in report.tables]
    assert "most frequent confusions" in titles
    assert not any(title.startswith("confusion (") for title in titles)
    best = report.record["confusions"][0]
    counts = report.record["confusion"]
    place = [counts["labels"].index(best[side]) for side in ("gold", "predicted")]
    assert counts["counts"][place[0]][place[1]] == best["count"]
    assert best["example"] in {e.text for e in some if e.label == best["gold"]}


def test_a_wrong_set_of_labels_is_one_mistake_with_the_log_odds_of_both_sets():
    model, some = fresh_multi(), multi_examples(30)
    model.net.double()
    found = explain_mistakes(model, judge(model, some))
    answers = zip(some, model.classify([e.text for e in some]), strict=True)
    wrong = [e for e, p in answers if {*p.labels} != {*e.labels}]
    assert {m.record["where"] for m in found} == {e.where for e in wrong}
    mistake = found[0]
    example = next(e for e in wrong if e.where == mistake.record["where"])
    (said,) = model.classify([example.text])
    items = model.labels.items
    signs = [(label in said.labels) - (label in example.labels) for label in items]

    def score():
        return logits(model, example.text) @ torch.tensor(signs, dtype=torch.double)

    words = model.featurizer.display(example.text)
    quotients = [slope(score, model.net.words, i) for i in range(len(words))]
    _, weights = zip(*mistake.why, strict=True)
    np.testing.assert_allclose(weights, heaviest(words, quotients)[1], rtol=1e-4, atol=1e-8)
