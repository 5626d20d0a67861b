"""An evaluation example by example, and what is answered to rows: each task by laws of its own scores."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU

from elman.tasks.base import PredictOptions
from elman.tasks.classifier.task import Classifier, ClassifierConfig, MultilabelExample
from elman.tasks.config import TokenizerConfig
from elman.tasks.language_model import LanguageModel
from elman.tasks.seq2seq import evaluation
from elman.tasks.seq2seq.task import Seq2Seq, Seq2SeqExample
from elman.tasks.tagger.analysis import Tagging
from elman.tasks.tagger.task import Tagger, TaggerExample
from elman.tasks.tagger.wrong_tags import WrongTag
from elman.text.spans import tags_to_spans
from tests.tasks import meetings, names, topics
from tests.tasks.toy_lm import real
from tests.tasks.toy_pairs import CHARS, FEW, WORDS, made, pairs


def several() -> tuple[Classifier, list[MultilabelExample]]:
    rows = [
        MultilabelExample(e.text, ("all", e.label) if i % 3 else (), e.where)
        for i, e in enumerate(topics.examples(40))
    ]
    return Classifier.from_examples(ClassifierConfig(**topics.TINY), TokenizerConfig(), rows), rows


def translator() -> tuple[Seq2Seq, list[Seq2SeqExample]]:
    model = made(WORDS, pairs(("a b", "x y"), ("b", "x"), ("c a", "y x y")))
    answers = model.translate(["a b", "b c"], beam=1)
    rows = [
        Seq2SeqExample("a  b", ("y x", f" {answers[0]} ")),
        Seq2SeqExample("b c", (answers[1],)),
        Seq2SeqExample("c q", ("x x x", "y")),
        Seq2SeqExample("a", ("y x y x",)),
    ]
    return model, rows


def tagger(*columns: str) -> tuple[Any, Any]:
    return names.fresh(columns=columns), names.examples(25, seed=3, columns=columns)


TASKS = {
    "classifier": lambda: (topics.fresh(), topics.examples(30, seed=4)),
    "several labels": several,
    "pairs": lambda: (meetings.fresh(), meetings.examples(20, seed=4)),
    "tags": lambda: tagger("ner"),
    "two columns": lambda: tagger("pos", "ner"),
    "translation": translator,
    "text": lambda: (real("words"), ["once upon a time", "the tide"]),
}


@pytest.fixture(params=TASKS.values(), ids=TASKS)
def task(request):
    return request.param()


def test_what_examples_add_up_to_are_the_scores_of_the_report(task):
    model, rows = task
    judged = model.judge(model.encode(rows), lambda *_: None)
    assert len(judged.scores) > 0
    for name, score in judged.scores.items():
        if name in judged.report.scores:
            assert score() == pytest.approx(judged.report.scores[name], rel=1e-5), name


def test_which_scores_are_sums_over_examples():
    for name, expected in {
        "classifier": {"accuracy", "macro_f1"},
        "several labels": {"micro_f1", "macro_f1", "exact"},
        "tags": {"f1", "accuracy"},
        "two columns": {"accuracy", "ner_f1", "ner_accuracy"},
        "translation": {"bleu", "chrf", "exact", "edit_rate"},
        "text": {"perplexity", "nats_per_line"},
    }.items():
        model, rows = TASKS[name]()
        assert model.judge(model.encode(rows), lambda *_: None).scores.keys() == expected, name


def count_unseen(model: Any, texts: list[list[str]]) -> list[int]:
    known = {*model.featurizer.tokenizer.items}
    fold = model.featurizer.tokenizer.normalize
    return [sum(fold(word) not in known for word in words) for words in texts]


def test_tokens_and_words_that_training_did_not_know_are_counted():
    model, rows = topics.fresh(), [e._replace(text=f"{e.text} new words") for e in topics.examples(6, seed=4)]
    judged = model.judge(model.encode(rows), lambda *_: None)
    words = [e.text.split() for e in rows]
    assert judged.unit == "examples"
    assert judged.tokens.tolist() == [*map(len, words)]
    assert judged.unseen.tolist() == count_unseen(model, words) == [2] * 6
    assert judged.right.tolist() == [
        p.label == e.label for p, e in zip(model.classify(e.text for e in rows), rows, strict=True)
    ]
    model, rows = meetings.fresh(), [e._replace(second="new") for e in meetings.examples(6)]
    judged = model.judge(model.encode(rows), lambda *_: None)
    assert judged.unseen.tolist() == [1] * 6
    assert judged.tokens.tolist() == [len(e.first.split()) + 1 for e in rows]
    model, rows = names.fresh(), [e._replace(words=("zebra", *e.words[1:])) for e in names.examples(6)]
    judged = model.judge(model.encode(rows), lambda *_: None)
    assert (judged.unit, judged.unseen.tolist()) == (
        "sentences",
        count_unseen(model, [[*e.words] for e in rows]),
    )
    assert judged.tokens.tolist() == [len(e.words) for e in rows]
    characters = Classifier.from_examples(
        ClassifierConfig(**topics.TINY), TokenizerConfig(kind="chars"), topics.examples(9)
    )
    assert characters.judge(characters.encode(topics.examples(3)), lambda *_: None).unseen is None


@pytest.mark.parametrize("columns", [("ner",), ("pos",), ("ner", "pos")])
def test_a_sentence_is_right_where_all_its_spans_and_tags_are(columns):
    model, rows = tagger(*columns)
    judged = model.judge(model.encode(rows), lambda *_: None)
    guesses = model.tag_columns([e.words for e in rows])

    def read(tags: Any, column: str) -> Any:
        return tags_to_spans(tags) if column == "ner" else list(tags)

    expected = [
        all(read(g, c) == read(p, c) for g, p, c in zip(e.tags, tags, columns, strict=True))
        for e, tags in zip(rows, guesses, strict=True)
    ]
    assert judged.right.tolist() == expected
    confused = judged.report.record.get("confusions", {})
    assert confused.keys() == {"pos"} & {*columns}
    wrong = [
        (g, p)
        for e, tags in zip(rows, guesses, strict=True)
        for i, column in enumerate(columns)
        if column == "pos"
        for g, p in zip(e.tags[i], tags[i], strict=True)
        if g != p
    ]
    for pair in confused.get("pos", []):
        assert pair["count"] == wrong.count((pair["gold"], pair["predicted"]))
        (word,) = re.findall(r"\[(.*?)\]", pair["example"])
        at = columns.index("pos")
        tagged = [both for e in rows for both in zip(e.words, e.tags[at], strict=True)]
        assert (word, pair["gold"]) in tagged
    titles = [table.title for table in judged.report.tables]
    assert titles.count("most frequent confusions of pos") == ("pos" in columns)


def find_wrong(monkeypatch: Any, model: Tagger, example: TaggerExample, *answers: Tagging) -> list[Any]:
    monkeypatch.setattr(type(model), "analyse_rows", lambda *_, **__: [[*answers]])
    return model.judge(model.encode([example]), lambda *_: None).mistakes()


def test_a_wrong_tag_that_marks_no_span_is_a_mistake_of_its_own(monkeypatch):
    model = names.fresh(columns=("pos",))
    example = TaggerExample(("the", "dog", "saw", "it"), (("DET", "NEW", "VERB", "NOUN"),), ("pos",), "f:3")
    said = Tagging(["DET", "NOUN", "DET", "NOUN"], [0.9, 0.8, 0.7, 0.6], [], [])
    new, verb = find_wrong(monkeypatch, model, example, said)
    assert new.record == {
        "where": "f:3",
        "word": 2,
        "gold": "NEW",
        "predicted": "NOUN",
        "confidence": 0.8,
        "context": "the [dog] saw it",
    }
    assert (new.rank, new.about) == (0.8, None), "no model can say why it is not a tag that it does not know"
    assert (verb.record["word"], verb.record["gold"], verb.record["context"]) == (3, "VERB", "the dog [saw] it")
    ids = {tag: i for i, tag in enumerate(model.tagsets[0].labels.items)}
    path = [ids[tag] for tag in said.tags]
    assert verb.about == WrongTag(0, 2, ids["VERB"], path)


def test_spans_that_share_words_are_one_mistake_as_sure_as_the_surest(monkeypatch):
    model = names.fresh()
    words = ("Ann", "Bob", "Lee", "Smith", "saw", "York", "in", "the", "dog", "New")
    gold = ("B-PER", "I-PER", "I-PER", "I-PER", "O", "B-LOC", "O", "O", "O", "O")
    tags = ["B-PER", "O", "O", "B-PER", "O", "B-LOC", "O", "O", "O", "O"]
    spans = [(span, sure) for span, sure in zip(tags_to_spans(tags), (0.9, 0.5, 0.7), strict=True)]
    example = TaggerExample(words, (gold,), ("ner",), "f:1")
    said = Tagging(tags, [0.8] * 10, spans, [])
    (wrong,) = find_wrong(monkeypatch, model, example, said)
    assert wrong.record == {
        "where": "f:1",
        "word": 1,
        "gold": "PER: Ann Bob Lee Smith",
        "predicted": "PER: Ann | PER: Smith",
        "confidence": 0.9,
        "context": "[Ann Bob Lee Smith] saw York in the dog New",
    }
    ids = {tag: i for i, tag in enumerate(model.tagsets[0].labels.items)}
    assert (wrong.about.place, wrong.about.gold) == (1, ids["I-PER"])
    unknown = example._replace(tags=(("B-PER", "B-NEW", "B-LOC", "B-PER", *gold[4:]),))
    found = find_wrong(monkeypatch, model, unknown, said)
    assert [(m.record["word"], m.about and m.about.place) for m in found] == [(2, None), (3, 2)]


def test_answers_are_judged_beside_all_references_whatever_blanks_they_have():
    model, rows = translator()
    judged = model.judge(model.encode(rows), lambda *_: None, beam=1)
    assert judged.right[:2].tolist() == [True, True]
    assert judged.tokens.tolist() == [2, 2, 2, 1]
    assert judged.unseen.tolist() == [0, 0, 1, 0]
    assert judged.report.scores["examples"] == 4
    assert [note.split(":")[0] for note in judged.report.notes] == ["signature of bleu", "signature of chrf"]
    assert "nats_per_token" in judged.report.scores
    together = model.judge(model.encode(rows), lambda *_: None, others=(translator()[0],))
    assert "nats_per_token" not in together.report.scores
    assert (together.trace is None, judged.trace is None) == (True, False)
    assert made(CHARS).judge(made(CHARS).encode(FEW), lambda *_: None).unseen is None


@pytest.mark.parametrize("cut", ["13a", "none"])
def test_bleu_cuts_words_as_asked(cut):
    model = made(WORDS, pairs(("a b", "x y"), ("b", "x")), bleu=cut)
    references = ["a cat , a dog and a cow.", "so it is said, they say."]
    answers = ["a cat, a dog and a cow .", "so it is said , they say ."]
    data = model.encode(pairs(*(("a b", text) for text in references)))
    expected = BLEU(tokenize=cut, force=True).corpus_score(answers, [references]).score
    assert evaluation.score_texts(model, data, answers)["bleu"] == pytest.approx(expected)


def test_progress_says_how_many_sources_were_answered(monkeypatch):
    monkeypatch.setattr(evaluation, "CHUNK", 3)
    model, said = made(), []
    data = model.encode(FEW)
    answers = evaluation.write_answers(model, data, lambda *how: said.append(how), model.decoding_config, ())
    assert said == [("writing", 3, 4), ("writing", 4, 4)]
    assert [a.text for a in answers] == model.translate([e.source for e in FEW])


def test_a_row_is_answered_with_the_best_few_and_a_blank_one_with_nothing():
    model = made(CHARS, beam=2)
    rows = [("ab",), ("  ",), ("bca",)]
    found = [*model.predict_rows(rows, PredictOptions(iter, n_best=3, align=True, trees=True))]
    expected = model.translations(["ab", "", "bca"], n_best=3, beam=3)
    for (text,), answer, best in zip(rows, found, expected, strict=True):
        assert answer.record == {"text": text, "answers": [one._asdict() for one in best]}
        assert answer.cells == [cell for one in best for cell in (one.text, round(one.score, 4))]
        blank = not text.strip()
        assert (answer.alignment is None, answer.tree is None) == (blank, blank)
        if not blank:
            assert answer.line == "\t".join(f"{one.text} {one.score:.4f}" for one in best)
            assert answer.alignment.source == list(text)
    assert (found[1].line, len(expected[0])) == ("", 3)
    plain = [*model.predict_rows(rows, PredictOptions(iter, decoding={"beam": 1}))]
    assert [a.line for a in plain] == model.translate([text.strip() for (text,) in rows], beam=1)
    assert all(a.alignment is a.tree is None for a in plain)
    columns = model.answer_columns(PredictOptions(iter, n_best=2))
    assert columns == {"prediction": str, "score": float, "prediction_2": str, "score_2": float}


def test_features_of_a_row_stand_behind_its_text():
    model = made(CHARS)
    (answer,) = model.predict_rows([("ab", "c")], PredictOptions(iter))
    assert answer.record["text"] == "ab c;"


def test_the_scores_of_a_text_are_those_of_its_lines():
    model: LanguageModel = real("words")
    judged = model.judge(model.encode(["once upon", "new words here"]), lambda *_: None)
    assert judged.unit == "lines"
    assert np.array_equal(judged.unseen, [0, 3])
    assert judged.scores["nats_per_line"]() * 2 == pytest.approx(
        judged.report.scores["nats_per_token"] * judged.report.scores["tokens"]
    )
    assert judged.vocabulary == model.tokenizer.items
