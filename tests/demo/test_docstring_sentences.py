"""Sentences out of Python files."""

import pytest

from elman.demo.docstring_sentences import collect_sentences, require_enough, sentences
from elman.demo.source_files import SourceFile, source_files, split_by_hash
from elman.errors import DataError

SOURCE = '''
"""Read the lines of a file. It may be compressed.

>>> This is a doctest, not a sentence.

Args:
    path: Where the file is to be found.
"""

# The table is sorted, so that
# it can be searched quickly.
def f():
    r"""Return the ``name`` of a :class:`File` as it was given."""
'''


def test_docstrings_and_comments_give_their_plain_sentences():
    assert collect_sentences([SourceFile("a.py", SOURCE)])["a.py"] == [
        "Read the lines of a file.",
        "Return the name of a File as it was given.",
        "The table is sorted, so that it can be searched quickly.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "too short a sentence",
        "This calls open(path) and returns it.",
        "This one (never closes its bracket.",
        "Sets the value_of_something to what is given.",
        "- This is an item of a list.",
        "Returns: Something that is useful to many.",
    ],
)
def test_code_and_fragments_are_no_sentences(text):
    assert list(sentences(text)) == []


def test_a_paragraph_has_one_indent_whatever_the_lengths_of_its_lines():
    prose = "Read all the lines\n    of a file that may be compressed\n    or not."
    assert list(sentences(prose)) == ["Read all the lines of a file that may be compressed or not."]
    assert list(sentences(prose.replace("    or", "        or"))) == []


@pytest.mark.parametrize(("words", "found"), [(4, False), (5, True), (40, True), (41, False)])
def test_a_sentence_has_five_to_forty_words(words, found):
    said = " ".join(["The", *["word"] * (words - 1)]) + "."
    assert list(sentences(said)) == [said] * found


def test_a_sentence_has_both_signs_of_a_quotation():
    assert list(sentences('This one says "yes" and then "no" to all.')) == [
        'This one says "yes" and then "no" to all.'
    ]
    assert list(sentences('This one says "yes" and then "no to all.')) == []


@pytest.mark.parametrize("line", ["- an item of a list of things.", ">>> print the name of the file."])
def test_a_paragraph_with_a_line_that_is_no_prose_is_left_out(line):
    assert list(sentences(f"Read all of the lines of it.\n{line}")) == []
    assert list(sentences(f"Read all of the lines of it.\n\n{line}")) == ["Read all of the lines of it."]


def test_a_sentence_that_stands_twice_is_found_once():
    file = '"""This sentence stands in two files."""'
    assert list(collect_sentences([SourceFile("a.py", file), SourceFile("b.py", file)])) == ["a.py"]


def test_a_python_without_sources_is_told_so():
    with pytest.raises(DataError, match="only 1 sentences"):
        require_enough({"a.py": ["Only this one is here."]})


def test_this_python_has_enough():
    found = collect_sentences(source_files(("", "numpy")))
    assert sum(map(len, require_enough(found).values())) > 2000
    assert {name.split("/")[0] for name in found} == {"python", "numpy"}


def test_inner_workings_come_only_when_asked_for():
    shown = {file.name for file in source_files(("numpy",))}
    everything = {file.name for file in source_files(("numpy",), inner=True)}
    assert shown < everything
    assert not any("/tests/" in name for name in shown)
    folders = {part for name in shown for part in name.split("/")[:-1]}
    assert folders & {"core", "_core"}  # of NumPy 1 and 2
    assert {part for part in folders if part.startswith("_")} <= {"_core"}


def test_keys_keep_their_part_whatever_others_there_are():
    few, many = (split_by_hash([f"file {i}" for i in range(n)]) for n in (100, 1000))
    for some, more in zip(few, many, strict=True):
        assert set(some) < set(more)
    assert sorted(name for part in many for name in part) == sorted(f"file {i}" for i in range(1000))
    assert min(map(len, many)) > 20


def test_lines_of_one_paragraph_may_differ_in_length_but_not_in_indent():
    assert [*sentences("The first line goes on\n  in a second one, which is longer\n  than the third.")]
    assert not [*sentences("The first line goes on\n  in a second one, which is\n    deeper than the first.")]


def test_a_folder_within_a_private_one_is_private():
    names = {file.name for file in source_files(("numpy",))}
    private = {part for name in names for part in name.split("/")[1:-1] if part.startswith("_")}
    assert private <= {"_core"}
