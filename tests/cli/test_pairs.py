"""Pairs on the command line: two texts in, one label out."""

import json
from pathlib import Path

import pytest

from tests.cli.lm_folder import call
from tests.tasks.meetings import examples, table

QUICK = ["--hidden", "8", "--epochs", "10", "--batch", "128", "--dropout", "0", "--lr", "0.01"]
SMALL = ["--set", "model.embedding=16", "--set", "model.mlp=16", "--set", "model.characters="]


@pytest.fixture
def elman(monkeypatch, capsys):
    return lambda *arguments, **more: call(monkeypatch, capsys, *map(str, arguments), **more)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A folder with tables a and b."""
    folder = tmp_path_factory.mktemp("meetings")
    table(folder / "a.tsv", 400)
    table(folder / "b.tsv", 80, 5)
    return folder


@pytest.fixture(params=["none", "soft"])
def model(request, made, elman) -> Path:
    """A trained model, with attention or without it."""
    out = made / request.param
    if not out.exists():
        files = ["--train", made / "a.tsv", "--valid", made / "b.tsv", "--out", out]
        done = elman("train", "pairs", *files, "--attention", request.param, *QUICK, *SMALL)
        assert done.code == 0, done.err
        assert f"elman predict {out} --top 2\n" in done.err
    return out


def test_what_is_learnt_is_scored(elman, made, model):
    done = elman("evaluate", model, made / "b.tsv", "--json")
    scores = json.loads(done.out)
    assert {"accuracy", "macro_f1", "examples"} <= scores.keys()
    assert scores["examples"] == 80
    assert scores["accuracy"] > 90
    shown = elman("evaluate", model, made / "b.tsv").out
    assert "confusion" in shown
    assert f"accuracy {scores['accuracy']:.2f}" in shown


def test_a_pair_in_is_a_label_out_from_lines_and_from_tables(elman, made, model):
    some = examples(30, seed=7)
    lines = "".join(f"{e.first}\t{e.second}\n" for e in some)
    rows = [json.dumps({"second": e.second, "first": e.first, "n": i}) for i, e in enumerate(some)]
    (made / "pairs.jsonl").write_text("\n".join(rows))
    (made / "pairs.tsv").write_text("first\tsecond\n" + lines)
    done = elman("predict", model, stdin=lines)
    assert (done.code, done.err) == (0, "")
    labels = done.out.splitlines()
    assert sum(label == e.label for label, e in zip(labels, some, strict=True)) > 25
    rows = elman("predict", model, made / "pairs.tsv").out.splitlines()[1:]
    assert [row.split("\t")[2] for row in rows] == labels
    rows = elman("predict", model, made / "pairs.jsonl").out.splitlines()
    assert [json.loads(row)["label"] for row in rows] == labels


def test_predict_json_has_both_texts_and_the_probability_of_every_label(elman, model):
    done = elman("predict", model, "--json", stdin="when\twhere\n")
    answer = json.loads(done.out)
    assert (answer["first"], answer["second"]) == ("when", "where")
    assert sum(answer["probabilities"].values()) == pytest.approx(1)
    assert next(iter(answer["probabilities"])) == answer["label"]


def test_a_line_without_a_second_text_is_named(elman, model):
    done = elman("predict", model, stdin="when\twhere\nwhen\n")
    assert done.code == 1
    assert done.err == "elman: stdin:2: expected two texts with a tab between them, not 'when'\n"


def test_inspect_says_what_each_word_of_both_texts_says_and_what_is_aligned(elman, model):
    seen = json.loads(elman("inspect", model, "--text", "when is it\ta year", "--json").out)
    (saliency,) = seen["text"]["saliency"]
    assert seen["text"]["tokens"] == ["when", "is", "it", "⇥", "a", "year"]
    assert len(saliency["shares"]) == 6
    assert saliency["shares"][3] == 0
    aligned = seen["text"]["alignment"]
    assert (aligned is None) == (model.name == "none")
    if aligned:
        assert aligned["target"] == ["a", "year"]
        assert [sum(row) for row in aligned["weights"]] == pytest.approx([1, 1], abs=1e-5)


def test_inspect_wants_two_texts(elman, model):
    done = elman("inspect", model, "--text", "when is it")
    assert done.code == 1
    assert "expected two texts with a tab between them" in done.err
