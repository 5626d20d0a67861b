"""elman score as a person meets it."""

import json
import math
import sys

import pytest

from elman.generation import score
from tests.cli.lm_folder import call, store

TEXTS = ["Once upon a time", "", "tide unheard-of"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lm")
    return str(folder), store(folder)


@pytest.fixture
def elman(monkeypatch, capsys):
    return lambda *arguments, **options: call(monkeypatch, capsys, *arguments, **options)


def test_a_line_in_is_a_log_probability_and_a_perplexity_out(elman, model, tmp_path):
    folder, lm = model
    done = elman("score", folder, stdin="\n".join(TEXTS) + "\n")
    assert done.code == 0
    expected = [score(lm, text) for text in TEXTS]
    rows = [[float(cell) for cell in line.split("\t")] for line in done.out.splitlines()]
    assert rows == [pytest.approx([float(one), one.perplexity], abs=1e-3) for one in expected]
    tokens = sum(len(one.tokens) for one in expected)
    together = math.exp(-sum(map(float, expected)) / tokens)
    count, perplexity = done.err.split(" tokens, perplexity ")
    assert (int(count), float(perplexity)) == (tokens, pytest.approx(together, rel=1e-5))
    (tmp_path / "texts").write_text("\n".join(TEXTS) + "\n")
    assert elman("score", folder, str(tmp_path / "texts")) == done


def test_by_token_prints_the_surprise_of_each(elman, model):
    folder, lm = model
    done = elman("score", folder, "--by-token", stdin="Once xyz\n")
    found = score(lm, "Once xyz")
    pairs = zip(found.tokens, found.log_probs, strict=True)
    assert done.out == "\t".join(f"{token} {-nats:.2f}" for token, nats in pairs) + "\n"


def test_by_token_is_coloured_on_a_terminal_unless_colours_are_not_wanted(elman, model, monkeypatch):
    monkeypatch.setattr(sys.stdout.__class__, "isatty", lambda self: True, raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = elman("score", model[0], "--by-token", stdin="Once upon\n").out
    assert "\x1b[" in coloured
    assert "upon" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    plain = elman("score", model[0], "--by-token", stdin="Once upon\n").out
    assert "\x1b[" not in plain
    assert plain.startswith("Once ")


def test_json_has_every_token_and_nothing_else_is_said(elman, model):
    folder, lm = model
    done = elman("score", folder, "--json", stdin="Once upon\n")
    assert done.err == ""
    answer, found = json.loads(done.out), score(lm, "Once upon")
    assert answer["tokens"] == found.tokens
    assert answer["log_probs"] == pytest.approx(found.log_probs)
    assert answer["perplexity"] == pytest.approx(found.perplexity)


def test_no_lines_are_one_line_of_complaint(elman, model):
    assert elman("score", model[0]) == (1, "", "elman: stdin: the file is empty\n")
