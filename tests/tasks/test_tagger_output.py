"""What a tagger prints for files: lines of words, raw text, and columns that are filled."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from elman.errors import ConfigError, DataError
from elman.number_format import format_probability
from elman.tasks.base import PredictOptions
from elman.tasks.config import TokenizerConfig
from elman.tasks.results import Answer
from elman.tasks.tagger.output import tag_file
from elman.tasks.tagger.task import Tagger, TaggerConfig, TaggerExample
from tests.tasks.names import TINY, fresh

SENTENCES = [["Ann", "saw", "New", "York"], ["Bob"], [], ["in", "York", "the", "dog"], ["saw", "Ann"]]


def by_two(items: Iterable[Any]) -> Iterator[list[Any]]:
    items = iter(items)
    while some := list(islice(items, 2)):
        yield some


def ask(model: Tagger, path: Path, **options: Any) -> list[Answer]:
    return [*tag_file(model, str(path), PredictOptions(by_two, **options))]


def columns(*names: str, labels: tuple[str, ...] = ("NOUN", "VERB")) -> Tagger:
    """A tagger whose columns have these names."""
    rows = [TaggerExample((w,), ((label,),) * len(names), names) for w in ("Ann", "saw") for label in labels]
    return Tagger.from_examples(TaggerConfig(**TINY), TokenizerConfig(), rows)


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "a.txt"
    path.write_text("".join(" ".join(words) + "\n" for words in SENTENCES))
    return path


@pytest.mark.parametrize("names", [("ner",), ("ner", "pos")])
def test_a_line_of_words_gives_its_tags_columns_apart_by_tabs(lines, names):
    model = fresh(columns=names)
    expected = ["\t".join(map(" ".join, tags)) for tags in model.tag_columns(SENTENCES)]
    assert [answer.line for answer in ask(model, lines)] == expected


def test_in_full_an_answer_has_words_spans_and_the_best_few(lines):
    model = fresh()
    found = ask(model, lines, as_json=True, n_best=2)
    analyses = [one for some in by_two(SENTENCES) for one in model.analyse(some, n_best=2)]
    for words, answer, (tagging,) in zip(SENTENCES, found, analyses, strict=True):
        spans = [
            {**span._asdict(), "text": " ".join(words[span.start : span.end]), "confidence": sure}
            for span, sure in tagging.spans
        ]
        n_best = [{"tags": tags, "probability": chance} for tags, chance in tagging.n_best]
        known = {"tags": tagging.tags, "confidence": tagging.confidence, "spans": spans, "n_best": n_best}
        assert answer.record == {"words": words, **known}
        best = [f"{' '.join(tags)} {format_probability(chance)}" for tags, chance in tagging.n_best]
        assert answer.line == "\t".join(best)
    assert any(answer.record["spans"] for answer in found)
    assert [a.line for a in ask(model, lines, n_best=2)] == [a.line for a in found]
    both = ask(fresh(columns=("ner", "pos")), lines, as_json=True)
    assert [*both[0].record] == ["words", "ner", "pos"]
    (two, *_) = ask(fresh(columns=("ner", "pos")), lines, as_json=True, n_best=2)
    assert [len(two.record[name]["n_best"]) for name in ("ner", "pos")] == [2, 2]
    with pytest.raises(ConfigError, match="--top is for a tagger of one column"):
        ask(fresh(columns=("ner", "pos")), lines, n_best=2)


def test_raw_text_is_answered_as_the_rows_of_a_table_are(lines):
    model = fresh()
    texts = [(" ".join(words),) for words in SENTENCES]
    expected = [*model.predict_rows(texts, PredictOptions(by_two))]
    assert [a.line for a in ask(model, lines, format="raw")] == [a.line for a in expected]


def test_a_sentence_that_is_too_long_is_named_by_its_number(lines):
    lines.write_text("a\nb\n" + "a " * 100_001 + "\n")
    with pytest.raises(DataError, match=r"a\.txt: sentence 3"):
        ask(columns("x"), lines)


def write(folder: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    ("names", "rows", "filled"),
    [
        (("2",), "Ann X\nsaw X\n\n# id = a\nAnn X\n", "Ann {}\nsaw {}\n\n# id = a\nAnn {}\n"),
        (("2",), "Ann X Y\nsaw X Y\n", "Ann {} Y\nsaw {} Y\n"),
        (("4",), "Ann X\nsaw X\n", "Ann X {}\nsaw X {}\n"),
        (("1",), "Ann X\nsaw X\n", "Ann X {}\nsaw X {}\n"),
        (("tag",), "Ann\nsaw\n", "Ann {}\nsaw {}\n"),
        (("2", "x"), "Ann X\nsaw X\n", "Ann {0} {1}\nsaw {2} {3}\n"),
        (("2",), "1\tAnn\tX\n2\tsaw\tX\n", "1\tAnn\tX\t{}\n2\tsaw\tX\t{}\n"),
        (("3",), "1\tAnn\tX\n2\tsaw\tX\n", "1\tAnn\t{}\n2\tsaw\t{}\n"),
    ],
)
def test_columns_that_a_file_has_are_filled_and_others_added(tmp_path, names, rows, filled):
    model = columns(*names)
    words = [[w for w in block.split() if w in ("Ann", "saw")] for block in rows.split("\n\n")]
    tags = [tag for found in model.tag_columns(words) for pair in zip(*found, strict=True) for tag in pair]
    found = ask(model, write(tmp_path, "a.conll", rows))
    assert b"".join(answer.line for answer in found).decode() == filled.format(*tags)


ROWS = "".join(f"{i}\t{w}" + "\t_" * 8 + "\n" for i, w in enumerate(("Ann", "saw"), 1)) + "\n"


def test_conllu_is_filled_by_name_and_has_no_other_columns(tmp_path):
    path = write(tmp_path, "a.conllu", ROWS * 3)
    model = columns("upos", "xpos")
    (upos, xpos) = model.tag_columns([["Ann", "saw"]])[0]
    found = b"".join(answer.line for answer in ask(model, path)).decode().splitlines()
    cells = [line.split("\t")[3:5] for line in found if line]
    assert cells == [list(pair) for pair in zip(upos, xpos, strict=True)] * 3
    for name in ("ner", "4"):
        with pytest.raises(ConfigError, match=f"fills upos, {name}, which CoNLL-U does not have"):
            ask(columns("upos", name), path)
    words = [answer.record["words"] for answer in ask(model, path, as_json=True)]
    assert words == [["Ann", "saw"]] * 3
    for answer in ask(columns("upos"), path, n_best=2):
        assert len(answer.line.split("\t")) == 2, "two answers, each with its probability"
    assert ask(columns("3"), write(tmp_path, "b.txt", "Ann X\n"), format="columns")


@pytest.mark.parametrize("name", ["a.txt", "a.conll"])
def test_words_are_read_in_the_encoding_of_their_file(tmp_path, name):
    path = write(tmp_path, name, "Ännchen\nsaw\n", "latin-1")
    found = ask(columns("x"), path, encoding="latin-1", as_json=True)
    words = [word for answer in found for word in answer.record["words"]]
    assert words == ["Ännchen", "saw"]


def test_the_encoding_of_a_file_stays_with_one_mark_at_its_beginning(tmp_path):
    model, text = columns("2"), "Ann X\n\nsaw X\n\nAnn X\n"
    path = write(tmp_path, "a.conll", text, "utf-16")
    found = b"".join(answer.line for answer in ask(model, path, encoding="utf-16"))
    first, second = (tags[0][0] for tags in model.tag_columns([["Ann"], ["saw"]]))
    assert found.decode("utf-16") == f"Ann {first}\n\nsaw {second}\n\nAnn {first}\n"
    greek = columns("2", labels=("α", "β"))
    with pytest.raises(DataError, match="a tag cannot be written in latin-1"):
        ask(greek, write(tmp_path, "b.conll", text), encoding="latin-1")
