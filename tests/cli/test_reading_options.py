"""Options that choose: how text is generated, when an answer is withheld, how many lines go together."""

import json
import sys
from types import SimpleNamespace

import pytest

from elman.cli.adaptation_options import warn_if_too_short
from elman.cli.answers import CHUNK
from elman.cli.complete import _line
from elman.cli.decoding_options import DecodingOptions
from elman.cli.evaluation_views import EvaluationViews, show_slices
from elman.cli.generate import _choose_strategy, _end_line, _json, _print_pieces
from elman.cli.model_args import chunks
from elman.cli.new_cell import check_cell_name
from elman.cli.predict import threshold_options
from elman.decoding import Beam, Greedy
from elman.errors import ConfigError
from elman.generation import Completion, Generation, Sampling
from elman.generation.adapted_lm import AdaptationConfig
from elman.tasks.classifier.task import Classifier
from elman.tasks.seq2seq.task import Seq2Seq

UNSET = dict.fromkeys(("temperature", "top_k", "top_p", "min_p", "min_tokens_to_keep", "seed", "beam"))
UNSET |= {"beam_factor": None, "length_penalty": None, "keep_width": False, "n": 1, "traced": False}
UNSET |= {"greedy": False, "sample": False, "beam_tree": None}


def choose(**options):
    return _choose_strategy(UNSET | options)


def test_a_way_to_write_is_what_the_options_say():
    assert choose() == choose(sample=True) == Sampling()
    drawn = {"temperature": 0.5, "top_k": 3, "top_p": 0.5, "min_p": 0.1, "min_tokens_to_keep": 2, "seed": 0}
    assert choose(**drawn) == Sampling(**drawn)
    assert choose(greedy=True, n=3) == Greedy()
    assert choose(beam=4, n=2) == Beam(width=4, n_best=2, narrow=True)
    assert choose(beam=4, keep_width=True) == Beam(width=4, n_best=1, narrow=False)
    searched = choose(beam=4, beam_factor=2.0, length_penalty=0.5, traced=True)
    assert searched == Beam(width=4, n_best=1, narrow=True, factor=2.0, length_penalty=0.5)


def test_contradictions_are_refused():
    for two in ({"greedy": True, "sample": True}, {"greedy": True, "beam": 2}, {"sample": True, "beam": 2}):
        with pytest.raises(
            ConfigError, match=r"^--greedy, --sample and --beam exclude each other: choose one$"
        ):
            choose(**two)
    for other in ({"greedy": True}, {"beam": 2}):
        with pytest.raises(ConfigError, match=r"^--top-k is for sampling, not for --greedy or --beam$"):
            choose(top_k=3, **other)
    alone = (
        {"beam_factor": 0.0},
        {"length_penalty": 0.0},
        {"keep_width": True},
        {"traced": True},
        {"beam_tree": "t"},
    )
    for searching in alone:
        for other in ({}, {"greedy": True}):
            with pytest.raises(ConfigError, match=r"^--beam-factor, .* are for --beam K$"):
                choose(**searching, **other)


def test_a_text_that_comes_in_pieces_ends_with_one_line_end(capsys):
    for pieces, shown in (([" b", "c"], "a bc\n"), ([" b\n"], "a b\n"), ([], "a\n"), (["b\n", ""], "ab\n")):
        _print_pieces("a", iter(pieces))
        assert capsys.readouterr().out == shown
    assert (_end_line("a"), _end_line("a\n"), _end_line("")) == ("a\n", "a\n", "\n")


def test_as_json_a_text_has_its_cost_and_a_completion_its_rest():
    told = json.loads(_json(Generation("n", "é", [-1.0, -0.5], -0.75, True)))
    assert (told["text"], told["continuation"], told["tokens"]) == ("né", "é", 2)
    assert (told["log_probability"], told["score"], told["ended"]) == (-1.5, -0.75, True)
    one = Completion(
        **dict.fromkeys(Completion._fields, 0.0) | {"text": "né", "rest": "é", "probability": 0.25}
    )
    assert _line("n", [one, one], as_json=False) == "né 0.2500\tné 0.2500"
    assert _line("n", [one], as_json=True).startswith(
        '{"text": "n", "completions": [{"text": "né", "rest": "é"'
    )


def test_lines_go_together_but_one_by_one_where_somebody_waits(monkeypatch, capsys):
    def sizes(file, **options):
        return [len(some) for some in chunks(iter(range(5)), file, 2, **options)]

    terminal = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: False))
    assert sizes("-") == sizes("a.txt") == [2, 2, 1]
    assert sizes("a.txt", line_buffered=True) == sizes("-", line_buffered=True) == [1] * 5
    monkeypatch.setattr(sys, "stdin", terminal)
    assert sizes("a.txt") == [2, 2, 1]
    assert capsys.readouterr().err == ""
    assert sizes("-") == [1] * 5
    assert capsys.readouterr().err == "type a line, then Enter; Ctrl-D ends\n"
    assert CHUNK > 1


def test_dynamic_evaluation_that_had_no_effect_is_said(capsys):
    dynamic = AdaptationConfig().dynamic
    first = dynamic.warm * dynamic.steps
    warn_if_too_short({"dynamic": dynamic}, first)
    said = f"--dynamic changed nothing: the first {first} tokens (dynamic.warm × dynamic.steps) only tell"
    assert capsys.readouterr().err.startswith(said)
    warn_if_too_short({"dynamic": dynamic}, first + 1)
    warn_if_too_short({}, 0)
    assert capsys.readouterr().err == ""


def test_an_answer_is_withheld_below_a_threshold_where_that_means_something():
    none, several = DecodingOptions({}), DecodingOptions({"n_best": 3})
    assert threshold_options(None, None, Classifier, none) == {}
    assert threshold_options(0.0, None, Classifier, none) == {"threshold": 0.0, "otherwise": ""}
    assert threshold_options(0.5, "unsure", Classifier, none) == {"threshold": 0.5, "otherwise": "unsure"}
    for wrong, said in (
        ((None, "", Classifier, none), "--otherwise is the answer below --threshold P: give that, too"),
        ((0.5, None, Seq2Seq, none), "--threshold is for models that give a label, not for "),
        (
            (0.5, None, Classifier, several),
            "--threshold gives one answer, --top several: leave one of them out",
        ),
    ):
        with pytest.raises(ConfigError, match=rf"^{said}"):
            threshold_options(*wrong)


def test_options_of_a_search_that_a_model_lacks_are_refused_by_their_name():
    given = DecodingOptions(
        {"factor": 2.0, "n_best": 2, "others": ("x",), "attention": "a.png", "beam_tree": "t.txt"}
    )
    assert given.overrides == {"factor": 2.0}
    given.reject_unknown("seq2seq", frozenset(given.given))
    for name, said in (("factor", "beam-factor"), ("others", "with"), ("beam_tree", "beam-tree")):
        known = frozenset(given.given) - {name}
        with pytest.raises(ConfigError, match=rf"^--{said} is for seq2seq models, not for a tagger$"):
            given.reject_unknown("tagger", known)


def test_views_of_one_model_are_refused_for_two(tmp_path):
    EvaluationViews(None, False, None).reject_all()
    for views in ((tmp_path, False, None), (None, True, None), (None, False, tmp_path)):
        with pytest.raises(
            ConfigError, match=r"^--errors, --slices and --reliability are for one model; leave"
        ):
            EvaluationViews(*views).reject_all()


def test_each_way_to_slice_has_a_table_of_its_own(capsys):
    one = {"by": "length", "slice": "1-3", "count": 1234, "accuracy": 90.0}
    show_slices([one, one | {"slice": "4-9"}, one | {"by": "unseen", "slice": "0 %", "accuracy": 5.0}])
    assert [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()] == [
        *("by length", "n accuracy", "1-3 1,234 90.00", "4-9 1,234 90.00"),
        *("by unseen", "n accuracy", "0 % 1,234 5.00"),
    ]
    show_slices([])
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("name", "why"),
    [
        *((name, "cannot be the name of a cell") for name in ("a b", "if", "_a", "testing", "1a", "")),
        *(("lstm", "is a cell of Elman's"), ("torch", "is a word of the file"), ("f", "is a word of the file")),
    ],
)
def test_a_cell_has_a_name_of_its_own(name, why):
    with pytest.raises(ConfigError, match=why):
        check_cell_name(name)
    check_cell_name("mgu")
