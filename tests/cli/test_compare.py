"""elman compare with its options: lengths, seeds, sizes, and a text of one's own."""

import dataclasses
import json

import numpy as np
import pytest

from elman.inspect import comparison
from elman.inspect.length_comparison import LengthComparison
from elman.inspect.text_comparison import TextComparison
from tests.cli.lm_folder import call


@pytest.fixture
def elman(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("torch.set_num_threads", lambda count: None)
    return lambda *arguments: call(monkeypatch, capsys, *arguments)


def test_lengths_are_columns_and_seeds_are_spreads(elman, monkeypatch):
    given = []

    def run(self, cells):
        given.append(self)
        scores = dict.fromkeys(self.lengths, 50.0 + 10 * self.seed)
        yield comparison.ComparisonResult("elman", 32, 7, 50.0, 80.0, 0.5, np.ones(1), self.seed, scores)

    monkeypatch.setattr(comparison.Comparison, "run", run)
    done = elman("compare", "elman", "--lengths", "2,3", "--seeds", "2", "--minutes", "3", "--no-picture")
    assert (done.code, done.err) == (0, "")
    header, row, caption = done.out.splitlines()
    assert header.split() == [
        "cell",
        "parameters",
        "memory",
        "2",
        "%",
        "memory",
        "3",
        "%",
        "little",
        "data",
        "%",
        "seconds",
    ]
    assert row.split() == ["elman", "7", *(["55.0", "±", "7.1"] * 2), "80.0", "±", "0.0", "0.5"]
    assert caption.endswith("mean ± standard deviation of 2 seeds")
    assert [dataclasses.replace(one, seed=0) for one in given] == [
        comparison.Comparison(lengths=(2, 3), minutes=1.5)
    ] * 2
    assert [one.seed for one in given] == [0, 1]


def test_cells_are_compared_on_a_text(elman, tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "book.txt").write_text("to be or not to be\n" * 120)
    options = ["--text", "book.txt", "--minutes", "0.004", "--parameters", "3000"]
    done = elman("compare", "elman", "gru", *options)
    assert (done.code, done.err) == (0, "learning curves: compare.png\n")
    header, first, second, caption = done.out.splitlines()
    assert header.split() == ["cell", "width", "parameters", "bits/character", "updates", "seconds"]
    assert (first.split()[0], second.split()[0]) == ("elman", "gru")
    assert caption.startswith("on the last 228 characters (by their frequencies alone: ")
    assert caption.endswith("), one seed")
    assert (tmp_path / "compare.png").read_bytes()[1:4] == b"PNG"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--text a.txt --lengths 3", "--lengths is for the memory task, not for --text: leave one of them out"),
        ("--lengths 3,x", "--lengths is '3,x'; it must be whole numbers, as in 10,20,50"),
        ("--width 3 --parameters 9", "width and parameters exclude each other: cells are equal in one of them"),
        ("--text none.txt", "none.txt: no such file"),
    ],
)
def test_a_comparison_that_contradicts_itself_is_one_line(elman, options, said):
    assert elman("compare", "elman", "--no-picture", *options.split()) == (1, "", f"elman: {said}\n")


def test_a_text_and_longer_sequences_are_one_table_and_one_picture(elman, tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "book.txt").write_text("to be or not to be\n" * 120)
    options = ["--text", "book.txt", "--long", "3", "--minutes", "0.008", "--parameters", "3000"]
    done = elman("compare", "elman", "ssru", *options)
    assert (done.code, done.err) == (0, "cells side by side: compare.png\n")
    header, *rows, caption = done.out.splitlines()
    assert header.endswith("parity 3 %  parity 12 %  copying 3 %  copying 12 %")
    assert sorted(row.split()[0] for row in rows) == ["elman", "ssru"]
    assert caption == "parity: chance 50 %; copying: chance 12.5 %; one seed"
    found = json.loads(elman("compare", "elman", *options, "--json", "--no-picture").out)
    assert [*found["lengths"][0]["right"]["copying"]] == ["3", "12"]


@pytest.mark.parametrize("option", [("--long", "8"), ("--lr", "0.1")])
def test_some_options_need_a_text(elman, option):
    done = elman("compare", "elman", *option)
    assert (done.code, done.err) == (1, "elman: --long, --lr and --device go with --text: which text?\n")


def test_the_learning_rate_is_that_of_the_text_and_half_of_it_of_longer_sequences(elman, monkeypatch, tmp_path):
    (tmp_path / "book.txt").write_text("to be or not to be\n" * 120)
    given = []
    for kind in (TextComparison, LengthComparison):
        monkeypatch.setattr(kind, "run", lambda self, *what: given.append(self.lr) or [])
    options = ["--text", "book.txt", "--no-picture", "--json"]
    elman("compare", "elman", *options, "--long", "3", "--lr", "0.006")
    elman("compare", "elman", *options, "--lr", "0.006")
    elman("compare", "elman", *options, "--long", "3")
    assert given == [0.006, 0.003, 0.006, TextComparison().lr, LengthComparison().lr]


def test_what_diverged_says_so_and_is_null_in_json(elman, monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "book.txt").write_text("to be or not to be\n" * 120)
    monkeypatch.setattr("elman.inspect.char_model.isfinite", lambda value: False)
    options = ["compare", "elman", "--text", "book.txt", "--width", "3", "--minutes", "0.001"]
    assert elman(*options).out.splitlines()[1].split()[3] == "diverged"
    (row,) = json.loads(elman(*options, "--json", "--no-picture").out)["cells"]
    assert (row["bits"], row["curve"][-1][1]) == (None, None)
