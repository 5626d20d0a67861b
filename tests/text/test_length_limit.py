"""A text that is too long to be read at once is refused with the place where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

import elman
from elman.cli.app import elman as command
from elman.errors import DataError
from elman.tasks.pairs.task import Pairs
from elman.text import length_limit
from elman.text.length_limit import LongTextError, check_lengths, locate_long_texts

LONG = "a word of many " * 20


@pytest.fixture(autouse=True)
def _short_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(length_limit, "MAX_TOKENS", 30)


def test_the_limit_itself_is_allowed() -> None:
    check_lengths([30, 0, 30])
    with pytest.raises(LongTextError, match="text 2 has 31 tokens"):
        check_lengths([30, 31])


def test_a_place_is_said_where_it_is_known() -> None:
    with (
        pytest.raises(DataError, match=r"^a\.txt:2: the text has 31 tokens; "),
        locate_long_texts(["", "a.txt:2"]),
    ):
        check_lengths([1, 31])


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "m"
    rows = [("good", "pos"), ("bad", "neg")] * 6
    elman.Classifier.train(rows, valid=rows, epochs=1, hidden=4).save(folder)
    return folder


def test_training_refuses_a_text_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text(f"text\tlabel\ngood\tpos\nbad\tneg\n{LONG}\tneg\n")
    recipe = {"task": "classifier", "data": {"train": str(tmp_path / "t.tsv"), "holdout": 0.0}}
    with pytest.raises(DataError, match=r"t\.tsv:4: the text has 80 tokens; the most that are read at once"):
        elman.train(recipe, tmp_path / "out")


def test_training_refuses_a_sentence_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "t.conll").write_text("a X\nb Y\n\n" + "c X\n" * 40 + "\n")
    recipe = {"task": "tagger", "data": {"train": str(tmp_path / "t.conll"), "holdout": 0.0}}
    with pytest.raises(DataError, match=r"t\.conll:4: the text has 40 tokens"):
        elman.train(recipe, tmp_path / "out")


@pytest.mark.parametrize(("name", "head"), [("p.txt", ""), ("p.tsv", "text\n")])
def test_prediction_refuses_a_line_with_its_number(
    classifier: Path, tmp_path: Path, name: str, head: str
) -> None:
    file = tmp_path / name
    file.write_text(f"{head}good\nbad\n{LONG}\n")
    with pytest.raises(DataError, match=rf"{name}:{3 + bool(head)}: the text has 80 tokens"):
        command(["predict", str(classifier), str(file)], standalone_mode=False)


def test_python_says_which_text_it_was(classifier: Path) -> None:
    with pytest.raises(DataError, match=r"^text 2 has 80 tokens; "):
        elman.load(classifier, elman.Classifier).classify(["good", LONG])


def test_of_pairs_the_pair_is_named_not_its_text(tmp_path: Path) -> None:
    rows = [("a", "b", "yes"), ("c", "d", "no")] * 6
    pairs = Pairs.train(rows, valid=rows, epochs=1, hidden=4)
    with pytest.raises(DataError, match=r"^text 3 has 80 tokens; "):
        pairs.classify([("a", "b"), ("a", "b"), ("a", LONG)])
