"""A tagger on raw text: places in the text, sentence by sentence."""

import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.errors import ArgumentError
from elman.tasks.base import PredictOptions
from elman.tasks.tagger.analysis import Tagging
from elman.tasks.tagger.raw_text import RawText, merge_taggings
from elman.text.pre_tokenizer import split_words
from elman.text.spans import Span, tags_to_spans
from tests.tasks.names import fresh

ODD = st.text(st.characters(exclude_categories=["Cs"])) | st.text("aBé\u0301'-.! \u200d👍🏽🇩🇪漢。\n\x1c\u2028")


@given(ODD, st.data())
def test_a_span_of_words_is_that_part_of_the_text(text, data):
    raw = RawText.split(text, split_words)
    tags = [data.draw(st.sampled_from(["O", "B-X", "I-X", "B-Y"])) for _ in raw.words]
    spans = tags_to_spans(tags)
    found = [raw.locate(span) for span in spans]
    assert [text[span.start : span.end] for span in found] == [span.text for span in found]
    for words, span in zip(spans, found, strict=True):
        assert "".join(span.text.split()) == "".join(raw.words[words.start : words.end])
        assert span.label == words.label


def test_the_best_tags_of_a_text_are_the_best_of_all_ways_to_tag_its_sentences():
    first = Tagging(["a"], [0.6], [(Span("X", 0, 1), 0.6)], [(["a"], 0.6), (["b"], 0.4)])
    second = Tagging(["c", "d"], [0.7, 0.8], [(Span("Y", 1, 2), 0.7)], [(["c", "d"], 0.55), (["e", "f"], 0.45)])
    both = merge_taggings([first, second], n_best=3)
    assert both.tags == ["a", "c", "d"]
    assert both.confidence == [0.6, 0.7, 0.8]
    assert both.spans == [(Span("X", 0, 1), 0.6), (Span("Y", 2, 3), 0.7)]
    every = [(a + b, p * q) for (a, p), (b, q) in product(first.n_best, second.n_best)]
    assert both.n_best == sorted(every, key=lambda one: -one[1])[:3]


TEXT = "Ann saw York.  Bob saw\tNew  York!\n\nThe end"


def ask(model, texts, **options):
    return list(model.predict_rows([(text,) for text in texts], PredictOptions(iter, **options)))


def test_sentences_of_a_text_are_tagged_as_each_by_itself():
    model = fresh()
    alone = model.tag([["Ann", "saw", "York", "."], ["Bob", "saw", "New", "York", "!"], ["The", "end"]])
    words = [pair.rpartition("/") for pair in ask(model, [TEXT])[0].line.split()]
    assert [tag for *_, tag in words] == [tag for tags in alone for tag in tags]


def test_spans_are_the_same_in_python_in_json_and_in_a_table():
    model = fresh()
    texts = [TEXT, "", "Bob"]
    found = model.spans(texts)
    records = [json.loads(json.dumps(answer.record)) for answer in ask(model, texts, as_json=True)]
    assert [r["spans"] for r in records] == [[span._asdict() for span in spans] for spans in found]
    assert [r["text"] for r in records] == texts
    for record in records:
        assert [record["text"][start:end] for start, end in record["offsets"]] == record["words"]
    cells = [answer.cells[0] for answer in ask(model, texts)]
    assert cells == [
        [{k: span[k] for k in ("text", "start", "end", "label")} for span in r["spans"]] for r in records
    ]


def test_one_string_is_no_list_of_texts():
    with pytest.raises(ArgumentError, match=r"spans\(\['Ann saw York'\]\)"):
        fresh().spans("Ann saw York")
