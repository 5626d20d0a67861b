from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from elman.errors import ConfigError, DataError
from elman.text.conll import Sentence, fill_tags, read_blocks, read_sentences

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
    first, second = read_sentences(written(tmp_path, CONLLU, "a.conllu"))
    assert first.words == ("vamos", "nos", "al mar")
    assert first.tags == (("VERB", "PRON", "NOUN"),)
    assert [first.raw[i].split("\t")[0] for i in first.at] == ["1", "2", "3"]
    assert (second.words, second.tags, second.line) == (("Sí",), (("INTJ",),), 9)


@pytest.mark.parametrize("column", ["lemma", "LEMMA", "3"])
def test_conllu_columns_have_names_and_numbers(tmp_path: Path, column: str) -> None:
    first = next(read_sentences(written(tmp_path, CONLLU, "a.conllu"), columns=(column,)))
    assert first.tags == (("ir", "nosotros", "mar"),)


def test_several_columns_are_read_in_the_order_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path, CONLLU, "a.conllu")
    first = next(read_sentences(path, columns=("xpos", "upos", "feats")))
    assert first.tags == (("_", "_", "NN"), ("VERB", "PRON", "NOUN"), ("_", "_", "_"))
    path = written(tmp_path, "The DT B-NP\n")
    assert next(read_sentences(path, columns=("3", "2"))).tags == (("B-NP",), ("DT",))


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
    found = list(read_blocks(path))
    assert "".join(raw for block in found for raw in block.raw) == text
    number = 1
    for block in found:
        assert block.line == number
        number += len(block.raw)
    words = [(w, t) for s in read_sentences(path) for w, t in zip(s.words, *s.tags, strict=True)]
    kept = [a for a, _ in [("w\tX", ""), *lines, (last, "")] if a.strip(" \t")]
    assert words == [tuple(a.split("\t")) for a in kept if not a.startswith("-DOCSTART-")]


def test_blank_lines_may_hold_blanks_and_tabs(tmp_path: Path) -> None:
    path = written(tmp_path, "a\tX\n\t\nb\tY\n \t \n\nc\tZ")
    assert [s.words for s in read_sentences(path)] == [("a",), ("b",), ("c",)]


def test_columns_may_be_apart_by_runs_of_blanks(tmp_path: Path) -> None:
    path = written(tmp_path, "The  DT B-NP\ndog NN\tI-NP \n\nbarks VBZ B-VP\n")
    assert [s.tags for s in read_sentences(path)] == [(("B-NP", "I-NP"),), (("B-VP",),)]
    assert [s.tags for s in read_sentences(path, columns=("2",))] == [(("DT", "NN"),), (("VBZ",),)]


def test_a_hash_is_a_word_outside_conllu(tmp_path: Path) -> None:
    assert next(read_sentences(written(tmp_path, "# O\n#elman B-X\n"))).words == ("#", "#elman")


COMMENTED = """\
# newdoc id = d1
# sent_id = 0
# text = # tag it
# # B-NP O
tag VB B-VP O
it PRP B-NP O

# sent_id = 1
EU NNP B-NP B-ORG
# # B-NP O
# a longer remark in the middle
"""


@pytest.mark.parametrize("tabs", [False, True])
def test_comments_are_no_words_in_columns_of_any_width(tmp_path: Path, tabs: bool) -> None:
    """Fault 2 of issue 20: `# sent_id = 0` has as many columns as the words."""
    rows = COMMENTED.splitlines(keepends=True)
    word = [not row.startswith("# ") or row.startswith("# #") for row in rows]
    text = "".join(
        row.replace(" ", "\t") if is_word and tabs else row for row, is_word in zip(rows, word, strict=True)
    )
    path = written(tmp_path, text)
    first, second = read_sentences(path)
    assert (first.words, first.tags) == (("#", "tag", "it"), (("O", "O", "O"),))
    assert (second.words, second.tags) == (("EU", "#"), (("B-ORG", "O"),))
    filled = "".join(line for s in read_blocks(path) for line in fill_tags(s, None, [["X"] * len(s.words)]))
    changed = [a for a, b in zip(text.splitlines(), filled.splitlines(), strict=True) if a != b]
    assert changed == [row for row, is_word in zip(text.splitlines(), word, strict=True) if is_word and row]


@pytest.mark.parametrize(
    "comment",
    """\
# id 5239d808-f300-46ea\tdomain=en
#\thttp://a.org [2010-02-26]
#begin document (bc/cctv_0000); part 000
# text: a b c
# 17
# newdoc
# sent_id=3
# sent_id = 3
# text =""".splitlines(),
)
@pytest.mark.parametrize("row", ["EU O", "EU\tO", "EU NNP O", "EU _ _ O", "EU\t_\t_\tO"])
def test_what_tools_write_above_a_sentence_is_a_comment(tmp_path: Path, comment: str, row: str) -> None:
    path = written(tmp_path, f"{comment}\n{row}\n\n{comment}\n{row}\n")
    assert [(s.words, s.tags) for s in read_sentences(path)] == [(("EU",), (("O",),))] * 2


@pytest.mark.parametrize("row", ["# O", "#\tO", "# # O", "# NN B-NP O"])
def test_a_hash_that_begins_a_sentence_is_a_word(tmp_path: Path, row: str) -> None:
    like = row.replace("#", "dog", 1)
    for text in (f"{row}\n{like}\n", f"{like}\n\n{row}\n", f"{row}\n\n{row}\n"):
        words = [word for s in read_sentences(written(tmp_path, text)) for word in s.words]
        assert words.count("#") == text.count(row)


@pytest.mark.parametrize(
    "mark", ["-DOCSTART-", "-DOCSTART- -X- O O", "-DOCSTART-\tO", "0 -DOCSTART- O", "-DOCSTART- (1 EU)"]
)
@pytest.mark.parametrize("blank", ["", "\n"])
def test_lines_that_start_a_document_are_no_words_and_end_a_sentence(
    tmp_path: Path, mark: str, blank: str
) -> None:
    text = f"{mark}\n{blank}EU NNP B-NP B-ORG\n{blank}{mark}\n{blank}rejects VBZ B-VP O\n"
    path = written(tmp_path, text)
    assert [(s.words, s.document) for s in read_sentences(path)] == [(("EU",), 1), (("rejects",), 2)]
    assert "".join(line for s in read_blocks(path) for line in s.raw) == text


def test_documents_are_counted_in_conllu_too(tmp_path: Path) -> None:
    row = "1\tSí\t_\tINTJ" + "\t_" * 6
    mark = row.replace("Sí", "-DOCSTART-")
    path = written(tmp_path, f"# newdoc id = a\n{row}\n\n{row}\n\n{mark}\n\n{row}\n", "a.conllu")
    assert [(s.words, s.document) for s in read_sentences(path)] == [(("Sí",), n) for n in (1, 1, 2)]


def test_a_first_column_that_counts_is_no_word(tmp_path: Path) -> None:
    path = written(tmp_path, "# a remark\n1\tAnn\tB-PER\tO\n2\tsaw\tO\tO\n\n# # #\n1\tit\tO\tO\n")
    assert [s.words for s in read_sentences(path)] == [("Ann", "saw"), ("it",)]
    assert next(read_sentences(path, columns=("3",))).tags == (("B-PER", "O"),)
    with pytest.raises(DataError, match="there is no column 5, the row has 4"):
        list(read_sentences(path, columns=("5",)))
    three = written(tmp_path, "1 Ann B-PER\n2 saw O\n")
    assert next(read_sentences(three)).words == ("Ann", "saw")
    numbers = written(tmp_path, "1 O\n2 O\n")
    assert next(read_sentences(numbers)).words == ("1", "2"), "with two columns it is all there is"
    (alone,) = read_sentences(written(tmp_path, "1 CD O\n"))
    assert alone.words == ("1",), "one row counts nothing"


def test_conllu_under_another_name_is_known_by_its_columns(tmp_path: Path) -> None:
    first, _ = read_sentences(written(tmp_path, CONLLU, "a.txt"))
    assert (first.words, first.tags) == (("vamos", "nos", "al mar"), (("VERB", "PRON", "NOUN"),))
    first, _ = read_sentences(written(tmp_path, CONLLU, "a.txt"), format="columns", columns=("4",))
    assert (first.words, first.tags) == (("vamos", "nos", "al mar"), (("VERB", "PRON", "NOUN"),))


@pytest.mark.parametrize(
    "text",
    [
        "The\tDT B-NP\ndog\tNN I-NP\n",  # both in each row
        "The\tDT\tB-NP\ndog NN I-NP\n",  # one here, one there
        "The DT B-NP\ndog\tNN\tI-NP\n",
        "The\tDT\tB-NP\t\ndog\tNN\tI-NP\n",  # tabs and blanks at the end
        "The\tDT\tB-NP \ndog\t NN\tI-NP\t\n",
        "The\tDT\tB-NP\r\ndog\tNN\tI-NP\r\n\r\n",
        "The DT B-NP\ndog NN I-NP",
    ],
    ids=repr,
)
def test_blanks_tabs_and_line_ends_may_be_as_people_have_them(tmp_path: Path, text: str) -> None:
    (sentence,) = read_sentences(written(tmp_path, text))
    assert (sentence.words, sentence.tags) == (("The", "dog"), (("B-NP", "I-NP"),))
    filled = "".join(fill_tags(sentence, ("3",), [("X", "Y")]))
    assert filled == text.replace("B-NP", "X").replace("I-NP", "Y")


def test_words_and_tags_with_a_blank_stand_between_tabs(tmp_path: Path) -> None:
    path = written(tmp_path, "New York\tB-Place Name\nis\tO\n")
    (sentence,) = read_sentences(path)
    assert (sentence.words, sentence.tags) == (("New York", "is"), (("B-Place Name", "O"),))


def test_blanks_in_a_file_of_tabs_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, "a\tX\tY\nb\tX\tY\n\nc X Y\n")
    with pytest.raises(DataError, match=":4: expected 3 columns apart by tabs, found 1"):
        list(read_sentences(path))


def test_words_are_read_without_tags(tmp_path: Path) -> None:
    path = written(tmp_path, "The\ndog\n")
    first = next(read_sentences(path, columns=()))
    assert (first.words, first.tags) == (("The", "dog"), ())
    with pytest.raises(DataError, match=r":1: expected a word and a tag, found one column"):
        list(read_sentences(path))
    blank = written(tmp_path, "The\t\ndog\t\n")
    assert next(read_sentences(blank, columns=())).words == ("The", "dog")


def test_a_sentence_is_yielded_at_its_blank_line(tmp_path: Path) -> None:
    reader = read_sentences(written(tmp_path, "a X\n\nbroken\n"))
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
def test_what_is_no_conll_is_an_error_with_its_line(tmp_path: Path, text: str, name: str, message: str) -> None:
    with pytest.raises(DataError, match=f"{name}{message}"):
        list(read_sentences(written(tmp_path, text, name)))


def test_a_wrong_column_or_format_is_an_error(tmp_path: Path) -> None:
    path = written(tmp_path, "a X\n")
    with pytest.raises(DataError, match="there is no column 3, the row has 2"):
        list(read_sentences(path, columns=("3",)))
    with pytest.raises(ConfigError, match="given by number, the first is 1"):
        list(read_sentences(path, columns=("upos",)))
    with pytest.raises(ConfigError, match="unknown column 'pos'; CoNLL-U has id, form"):
        list(read_sentences(path, columns=("pos",), format="conllu"))
    with pytest.raises(ConfigError, match="columns upos, UPOS: one of them is given twice"):
        list(read_sentences(path, columns=("upos", "UPOS"), format="conllu"))
    with pytest.raises(ConfigError, match="unknown format 'xml'; choose from conllu, columns"):
        list(read_sentences(path, format="xml"))


row = st.sampled_from(["w X Y", "w  \t X\tY ", " w X Y", "# X \u2028", "-DOCSTART- O", "", "\t "])
row_with_tabs = st.sampled_from(["w\tX\tY", " w \tX Z\t\u00a0", "\ufeff\t#\t\ufeff", "-DOCSTART-", ""])
row_of_ten = st.sampled_from(
    ["1\tw" + "\t_" * 8, "1\tal mar\t \tX" + "\tY" * 6, "# X", "1-2" + "\t_" * 9, "1.1" + "\t" * 9, ""]
)


@st.composite
def files(draw: st.DrawFn) -> tuple[str, str]:
    """The format and the text of a file: any line ends, or none at last, perhaps with a mark."""
    format, kind = draw(st.sampled_from([("columns", row), ("columns", row_with_tabs), ("conllu", row_of_ten)]))
    lines = draw(st.lists(st.tuples(kind, st.sampled_from(["\n", "\r\n"])), min_size=1))
    if format == "conllu":  # a sentence of one word, whatever stands around it
        lines = [(a, b + "\n" if a.startswith("1\t") else b) for a, b in lines]
    text = draw(st.sampled_from(["", "\ufeff"])) + "".join(a + b for a, b in lines)
    return format, text.rstrip("\r\n") if draw(st.booleans()) else text


def read(path: Path, columns: tuple[str, ...] | None, format: str) -> list[Sentence]:
    """The blocks of a file that has words and no empty cells where there should be tags."""
    try:
        found = list(read_blocks(path, columns=columns, format=format))
    except DataError:
        reject()
    return found if any(block.words for block in found) else reject()


@settings(max_examples=200)
@given(files(), st.sampled_from([None, (), ("3",), ("3", "2")]))
def test_filled_with_the_tags_it_had_a_file_is_the_same(
    folder: Path, file: tuple[str, str], columns: tuple[str, ...] | None
) -> None:
    format, text = file
    path = written(folder, text)
    found = read(path, columns, format)
    again = [line for block in found for line in fill_tags(block, columns, block.tags)]
    assert "".join(again) == text


@settings(max_examples=200)
@given(files(), st.sampled_from([("3",), ("4", "3")]), st.data())
def test_tags_that_were_filled_in_are_read_again(
    folder: Path, file: tuple[str, str], columns: tuple[str, ...], data: st.DataObject
) -> None:
    format, text = file
    path = written(folder, text)
    found = read(path, (), format)
    tag = st.sampled_from(["X", "B-Y", "_", "é", "#"])
    tags = [
        [data.draw(st.lists(tag, min_size=len(block.at), max_size=len(block.at))) for _ in columns]
        for block in found
    ]
    new = "".join(
        line for block, some in zip(found, tags, strict=True) for line in fill_tags(block, columns, some)
    )
    again = list(read_blocks(written(folder, new), columns=columns, format=format))
    assert [block.words for block in again] == [block.words for block in found]
    assert [list(map(list, block.tags)) for block in again] == tags


def test_filling_changes_the_columns_and_nothing_else(tmp_path: Path) -> None:
    text = CONLLU.replace("\n", "\r\n")
    first, second = read_sentences(written(tmp_path, text, "a.conllu"), columns=())
    lines = fill_tags(first, ("feats", "upos"), (["F=1", "_", "G"], ["A", "B", "C"]))
    changed = text.replace("VERB\t_\t_", "A\t_\tF=1").replace("PRON", "B").replace("NOUN\tNN\t_", "C\tNN\tG")
    assert "".join(lines) + "".join(second.raw) == changed


@pytest.mark.parametrize(
    ("text", "columns", "new"),
    [
        ("a\nb", None, "a X\nb Y"),
        ("a \r\nb\r\n", ("2",), "a X \r\nb Y\r\n"),
        ("-DOCSTART-\n\na\tN\nb\tV\n", ("3",), "-DOCSTART-\n\na\tN\tX\nb\tV\tY\n"),
        ("a  N\n b V \n", None, "a  X\n b Y \n"),
        ("a N O\nb V O\n", ("2",), "a X O\nb Y O\n"),
    ],
)
def test_a_column_that_is_missing_is_appended(
    tmp_path: Path, text: str, columns: tuple[str, ...] | None, new: str
) -> None:
    (block,) = read_sentences(written(tmp_path, text), columns=())
    assert "".join(fill_tags(block, columns, [["X", "Y"]])) == new


def test_two_new_columns_stand_in_their_order(tmp_path: Path) -> None:
    (block,) = read_sentences(written(tmp_path, "a\n"), columns=())
    assert fill_tags(block, ("3", "2"), [["Y"], ["X"]]) == ["a X Y\n"]
    with pytest.raises(DataError, match="there is no column 3, the rows have 1"):
        fill_tags(block, ("3",), [["Y"]])


@pytest.mark.parametrize(
    ("text", "tag", "kind"),
    [("a O\n", "New York", "blanks"), ("a O\n", "", "blanks"), ("a\tO\n", "X\tY", "tabs")]
    + [("a\tO\n", tag, "tabs") for tag in ("", " ", "X\n")],
)
def test_a_tag_that_would_break_the_columns_is_refused(tmp_path: Path, text: str, tag: str, kind: str) -> None:
    (block,) = read_sentences(written(tmp_path, text), columns=())
    with pytest.raises(DataError, match=f"cannot stand in columns apart by {kind}"):
        fill_tags(block, None, [[tag]])
