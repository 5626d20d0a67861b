"""Types and descriptions out of both styles of docstrings."""

import pytest

from elman.demo.parameter_types import TYPES, descriptions, label, sentence
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


def test_too_few_descriptions_are_one_sentence():
    with pytest.raises(DataError, match="only 2 descriptions"):
        descriptions([SourceFile("a.py", GOOGLE)])


def test_what_is_installed_has_every_type():
    found = descriptions(source_files(("numpy", "torch"), inner=True))
    assert set(found.values()) == set(TYPES)
