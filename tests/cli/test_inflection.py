"""Lemmas with features to forms, by the commands: a column of features, or features behind each line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import elman
from elman.cli.app import elman as command
from elman.errors import ConfigError
from elman.tasks.seq2seq.task import Seq2Seq
from tests.click_runner import make_runner

ENDINGS = {"N;SG": "", "N;PL": "s", "V;PST": "ed", "V;PTCP": "ing"}
STEMS = [a + b + c for a in "klmpr" for b in "aio" for c in "kmt"]
ROWS = [(stem, stem + end, features) for stem in STEMS for features, end in ENDINGS.items()]
TEXT = ["--text", "source", "--text", "features"]
QUICK = ["--hidden", "32", "--epochs", "25", "--lr", "0.01", "--set", "model.members=1", "--threads", "1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("inflection")
    (place / "train.tsv").write_text("".join("\t".join(row) + "\n" for row in ROWS))
    columns = ["--source", "1", "--target", "2", "--features", "3"]
    train = ["train", "seq2seq", "--train", str(place / "train.tsv"), "--out", str(place / "model"), *columns]
    done = make_runner().invoke(command, [*train, *QUICK])
    assert done.exit_code == 0, done.output
    return place


def test_features_are_read_as_whole_symbols(folder: Path) -> None:
    config = json.loads((folder / "model" / "config.json").read_text())
    assert config["tokens"]["source"]["kind"] == "chars+features"
    model = elman.load(folder / "model", Seq2Seq)
    assert model.tokenizers.source.tokens("lak V;PST") == ["l", "a", "k", ";V", ";PST"]
    assert {";V", ";PST", ";SG", "l"} <= {*model.tokenizers.source.items}


def test_a_line_has_its_features_behind_the_word(folder: Path) -> None:
    done = make_runner().invoke(command, ["translate", str(folder / "model")], input="lak V;PST\nlak N;PL\n")
    assert done.stdout.splitlines() == ["laked", "laks"]


def test_a_table_has_its_features_in_their_column(folder: Path) -> None:
    (folder / "asked.csv").write_text("source,features\nlak,V;PTCP\nmit,N;PL\n")
    done = make_runner().invoke(command, ["predict", str(folder / "model"), str(folder / "asked.csv"), *TEXT])
    assert done.exit_code == 0, done.output
    found = [line.split(",")[2] for line in done.stdout.splitlines()]
    assert found == ["prediction", "laking", "mits"]


def test_the_same_columns_are_evaluated(folder: Path) -> None:
    done = make_runner().invoke(
        command, ["evaluate", str(folder / "model"), str(folder / "train.tsv"), "--json"]
    )
    assert json.loads(done.stdout)["exact"] > 90


def test_rows_in_python_have_features_last() -> None:
    options = {"data": {"features": "features", "holdout": 0.0}, "model": {"members": 1}}
    model = Seq2Seq.train(ROWS[:40], recipe=options, hidden=8, epochs=1)
    assert model.tokenizers.source.kind == "chars+features"
    assert model.evaluate(ROWS[:8])["examples"] == 8
    assert len(model.translate(["lak V;PST"])) == 1


def test_features_need_a_table(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="features are a column of a table"):
        elman.train({"task": "seq2seq", "data": {"train": ["a", "b"], "features": "3"}}, tmp_path / "model")
