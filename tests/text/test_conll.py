from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.errors import ConfigError, DataError
from elman.text.conll import blocks, sentences

CONLLU = """\
# sent_id = 1
# text = vámonos al mar
1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tvamos\tir\tVERB\t_\t_\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t_\t_
2.1\tmissing\t_\t_\t_\t_\t_\t_\t_\t_
3\tal mar\tmar\tNOUN\tNN\t_\t1\tobl\t_\t_

# sent_id = 2
1\tSí\tsí\tINTJ\t_\t_\t0\troot\t_\t_

"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("conll")


def written(folder: Path, text: str, name: str = "a.conll") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def test_conllu_words_are_the_lines_with_whole_numbers(tmp_path: Path) -> None:
    first, second = sentences(written(tmp_path, CONLLU, "a.conllu"))
    assert first.words == ("vamos", "nos", "al mar")
    assert first.tags == ("VERB", "PRON", "NOUN")
    assert [first.raw[i].split("\t")[0] for i in first.at] == ["1", "2", "3"]
    assert (second.words, second.tags, second.line) == (("Sí",), ("INTJ",), 9)


@pytest.mark.parametrize("column", ["lemma", "LEMMA", "3"])
def test_conllu_columns_have_names_and_numbers(tmp_path: Path, column: str) -> None:
    first = next(sentences(written(tmp_path, CONLLU, "a.conllu"), column=column))
    assert first.tags == ("ir", "nosotros", "mar")


line = st.sampled_from(["w\tX", "#\tY", "-DOCSTART-\tO", "", "\t", "  ", "é\u2028\tZ", "\u00a0\tQ"])


@given(
    lines=st.lists(st.tuples(line, st.sampled_from(["\n", "\r\n"]))),
    mark=st.sampled_from(["", "\ufeff"]),
    last=st.sampled_from(["", "w\tX", "\t"]),
)
def test_the_raw_lines_of_all_blocks_are_the_file(
    folder: Path, lines: list[tuple[str, str]], mark: str, last: str
) -> None:
    text = mark + "w\tX\n" + "".join(a + b for a, b in lines) + last
    path = written(folder, text)
    found = list(blocks(path))
    assert "".join(raw for block in found for raw in block.raw) == text
    number = 1
    for block in found:
        assert block.line == number
        number += len(block.raw)
    words = [(w, t) for s in sentences(path) for w, t in zip(s.words, s.tags, strict=True)]
    kept = [a for a, _ in [("w\tX", ""), *lines, (last, "")] if a.strip(" \t")]
    assert words == [tuple(a.split("\t")) for a in kept if not a.startswith("-DOCSTART-")]


def test_blank_lines_may_hold_blanks_and_tabs(tmp_path: Path) -> None:
    path = written(tmp_path, "a\tX\n\t\nb\tY\n \t \n\nc\tZ")
    assert [s.words for s in sentences(path)] == [("a",), ("b",), ("c",)]


def test_columns_may_be_apart_by_runs_of_blanks(tmp_path: Path) -> None:
    path = written(tmp_path, "The  DT B-NP\ndog NN\tI-NP \n\nbarks VBZ B-VP\n")
    assert [s.tags for s in sentences(path)] == [("B-NP", "I-NP"), ("B-VP",)]
    assert [s.tags for s in sentences(path, column="2")] == [("DT", "NN"), ("VBZ",)]


def test_a_hash_is_a_word_outside_conllu(tmp_path: Path) -> None:
    assert next(sentences(written(tmp_path, "# O\n#elman B-X\n"))).words == ("#", "#elman")


def test_lines_that_start_a_document_are_no_words(tmp_path: Path) -> None:
    path = written(tmp_path, "-DOCSTART- -X- O O\n\nEU NNP B-NP B-ORG\n")
    assert [s.words for s in sentences(path)] == [("EU",)]


def test_a_file_of_words_only_is_read_by_its_first_column(tmp_path: Path) -> None:
    path = written(tmp_path, "The\ndog\n")
    assert next(sentences(path, column="1")).words == ("The", "dog")
    with pytest.raises(DataError, match=r":1: expected a word and a tag, found one column"):
        list(sentences(path))


def test_a_sentence_is_yielded_at_its_blank_line(tmp_path: Path) -> None:
    reader = sentences(written(tmp_path, "a X\n\nbroken\n"))
    assert next(reader).words == ("a",)
    with pytest.raises(DataError, match=":3: expected 2 columns, found 1"):
        next(reader)


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("1\ta\n", "a.conllu", ":1: expected 10 columns apart by tabs, found 2"),
        ("x" + "\t_" * 9, "a.conllu", ":1: expected word 1, found 'x'"),
        (CONLLU.replace("\n\n", "\n"), "a.conllu", ":9: expected word 4, found '1'"),
        ("1\t" + "\t_" * 8, "a.conllu", ":1: column 2 is empty"),
        ("# only a comment\n", "a.conllu", ": the file has no sentences"),
        ("a\tX\n\tX\n", "a.conll", ":2: column 1 is empty"),
        ("a\tX\nb\tY\tZ\n", "a.conll", ":2: expected 2 columns, found 3"),
        ("\n \n", "a.conll", ": the file has no sentences"),
    ],
)
def test_what_is_no_conll_is_an_error_with_its_line(
    tmp_path: Path, text: str, name: str, message: str
) -> None:
    with pytest.raises(DataError, match=f"{name}{message}"):
        list(sentences(written(tmp_path, text, name)))


def test_a_wrong_column_or_format_is_an_error(tmp_path: Path) -> None:
    path = written(tmp_path, "a X\n")
    with pytest.raises(DataError, match="there is no column 3, the row has 2"):
        list(sentences(path, column="3"))
    with pytest.raises(ConfigError, match="given by number, the first is 1"):
        list(sentences(path, column="upos"))
    with pytest.raises(ConfigError, match="unknown column 'pos'; CoNLL-U has id, form"):
        list(sentences(path, column="pos", format="conllu"))
    with pytest.raises(ConfigError, match="unknown format 'xml'; choose from conllu, columns"):
        list(sentences(path, format="xml"))
