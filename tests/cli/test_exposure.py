"""elman inspect --exposure as a person meets it."""

import json
import random

import pytest

from elman.pipeline import train
from tests.cli.lm_folder import call


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small model of reversed words, and the file that it learnt from."""
    place, dice = tmp_path_factory.mktemp("exposure"), random.Random(0)
    sides = [dice.choices("abc", k=dice.randint(2, 5)) for _ in range(40)]
    (place / "x").write_text("".join(" ".join(words) + "\n" for words in sides))
    (place / "y").write_text("".join(" ".join(words[::-1]) + "\n" for words in sides))
    words = {"kind": "whitespace"}
    recipe = {
        "task": "seq2seq",
        "data": {"train": [str(place / "x"), str(place / "y")]},
        "tokens": {"source": words, "target": words},
        "model": {"hidden": 8, "embedding": 8},
        "training": {"updates": 3},
    }
    train(recipe, place / "model")
    return place


def options(folder):
    return ["--exposure", str(folder / "x"), "--exposure", str(folder / "y")]


def test_it_is_told_in_tables(folder, monkeypatch, capsys):
    done = call(monkeypatch, capsys, "inspect", str(folder / "model"), *options(folder))
    assert done.code == 0, done.err
    assert "exposure bias: " in done.out
    assert "nats a token (40 sequences)" in done.out
    assert "forced: nats" in done.out
    assert "accumulated" in done.out


def test_it_is_told_as_json(folder, monkeypatch, capsys):
    done = call(monkeypatch, capsys, "inspect", str(folder / "model"), *options(folder), "--json")
    found = json.loads(done.out)["exposure"]
    assert found["sequences"] == 40
    assert found["bias"] == pytest.approx(sum(found["excess"]) / len(found["excess"]))
    assert len(found["forced"]["nats"]) == 6
    assert found["forced"]["counts"][0] == 40


def test_it_is_drawn(folder, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    done = call(monkeypatch, capsys, "inspect", str(folder / "model"), *options(folder), "--out", str(tmp_path))
    assert done.code == 0, done.err
    assert (tmp_path / "exposure.png").exists()


def test_a_model_that_writes_nothing_is_refused(tmp_path, monkeypatch, capsys):
    table = tmp_path / "a.tsv"
    table.write_text("text\tlabel\n" + "".join(f"a b\t{i % 2}\n" for i in range(20)))
    recipe = {"task": "classifier", "data": {"train": str(table)}, "training": {"updates": 1}}
    train(recipe, tmp_path / "model")
    done = call(monkeypatch, capsys, "inspect", str(tmp_path / "model"), "--exposure", str(table))
    assert done.code == 1
    assert "a classifier writes no sequence" in done.err
