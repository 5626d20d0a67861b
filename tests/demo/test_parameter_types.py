"""Types and descriptions out of both styles of docstrings."""

from types import SimpleNamespace

import pytest

from elman.demo.parameter_types import TYPES, ParameterTypeDemo, descriptions, label, sentence
from elman.demo.source_files import SourceFile, source_files
from elman.errors import DataError

GOOGLE = """
    Args:
        dim (int, optional): the dimension
            to reduce. It may be negative.
        bias (bool): whether to use a bias
"""
NUMPY = """
    Parameters
    ----------
    axis : int, optional
        Axis along which to count.
    out : {ndarray}
        The set of types is another.
"""


@pytest.mark.parametrize(
    ("said", "type_"),
    [
        ("int, optional", "int"),
        (":class:`Tensor`", "array"),
        ("Optional[str]", "str"),
        ("torch.dtype, optional", "dtype"),
        ("a callable", "callable"),
        ("Interval", None),
        ("nn.Module", None),
    ],
)
def test_a_type_has_one_label_or_none(said, type_):
    assert label(said) == type_


def test_the_first_sentence_of_a_description_is_taken():
    assert sentence("the ``dimension``\n    to reduce. It may be so.") == "the dimension to reduce"
    assert sentence("too short") == ""
    assert sentence("just enough words.") == "just enough words"
    assert sentence("so " * 66 + "on") == ("so " * 66 + "on").strip()  # 200 characters
    assert sentence("so " * 66 + "ons") == ""
    assert sentence("3 is not how text begins") == ""
    assert sentence("the name of " + "a" * 188) == "the name of " + "a" * 188
    assert sentence("the name of " + "a" * 189) == ""


def test_both_styles_are_read(monkeypatch):
    monkeypatch.setattr("elman.demo.parameter_types.FEWEST", 1)
    assert descriptions([SourceFile("a.py", GOOGLE), SourceFile("b.py", NUMPY)]) == {
        "the dimension to reduce": "int",
        "whether to use a bias": "bool",
        "Axis along which to count": "int",
    }


def test_of_several_types_of_a_description_the_commonest_is_taken(monkeypatch):
    monkeypatch.setattr("elman.demo.parameter_types.FEWEST", 1)
    said = [GOOGLE.replace("bool", type_) for type_ in ("bool", "int", "int", "str")]
    found = descriptions(SourceFile(f"{i}.py", text) for i, text in enumerate(said))
    assert found["whether to use a bias"] == "int"


def test_as_many_descriptions_as_are_needed_are_enough(monkeypatch):
    for fewest, enough in ((1, True), (2, True), (3, False)):
        monkeypatch.setattr("elman.demo.parameter_types.FEWEST", fewest)
        if enough:
            assert len(descriptions([SourceFile("a.py", GOOGLE)])) == 2
        else:
            with pytest.raises(DataError, match="the demo needs 3"):
                descriptions([SourceFile("a.py", GOOGLE)])


@pytest.mark.parametrize("count", [5, 100, 2000])
def test_eight_held_out_descriptions_are_shown_from_all_over_the_alphabet(count):
    data = {f"{'x' * (i % 90)} the {i:04} of them": "bool" for i in range(count)}
    demo = ParameterTypeDemo(data, 0.0)
    model = SimpleNamespace(classify=lambda texts: [SimpleNamespace(probabilities={"int": 1.0})])
    test = demo.keys("test")
    if not test:
        return
    head, *lines = demo.examples(model)
    assert head == "Held-out descriptions, the right type, and what it guesses:"
    step = max(1, len(test) // 8)
    shown = test[::step][:8]
    wide = min(60, max(map(len, shown)))
    short = [text if len(text) <= wide else text[: wide - 1] + "…" for text in shown]
    assert lines == [f"  {text.ljust(wide)}  bool      int 100 %" for text in short]


def test_its_files_are_tables_with_a_head():
    demo = ParameterTypeDemo({f"the number {i}": "int" for i in range(99)}, 0.0)
    head, *rows = demo.file_text("test").splitlines()
    assert head == "text\tlabel"
    assert rows == [f"{text}\tint" for text in demo.keys("test")]


def test_too_few_descriptions_are_one_sentence():
    with pytest.raises(DataError, match="only 2 descriptions"):
        descriptions([SourceFile("a.py", GOOGLE)])


def test_what_is_installed_has_every_type():
    found = descriptions(source_files(("numpy", "torch"), inner=True))
    assert set(found.values()) == set(TYPES)
