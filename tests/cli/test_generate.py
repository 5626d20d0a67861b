"""elman generate as a person meets it."""

import json
import sys
from dataclasses import asdict

import pytest

from elman import artifact
from elman.decoding import Beam, Greedy
from elman.generation import GenerationConfig, Sampling, generate
from tests.cli.lm_folder import call, store
from tests.model_folder import store_model
from tests.tasks.topics import fresh

DRAWN = "--sample --temperature 0.7 --top-k 4 --top-p 0.9 --min-p 0.01 --min-tokens-to-keep 2 --seed 2 -n 3"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lm")
    return str(folder), store(folder)


@pytest.fixture
def elman(monkeypatch, capsys):
    return lambda *arguments, **options: call(monkeypatch, capsys, *arguments, **options)


@pytest.mark.parametrize(
    ("options", "how", "n"),
    [
        (["--seed", "3"], Sampling(seed=3), 1),
        (
            DRAWN.split(),
            Sampling(temperature=0.7, top_k=4, top_p=0.9, min_p=0.01, min_tokens_to_keep=2, seed=2),
            3,
        ),
        (["--greedy"], Greedy(), 1),
        (
            ["--beam", "4", "--beam-factor", "20", "--length-penalty", "0.5", "-n", "2"],
            Beam(width=4, factor=20, length_penalty=0.5),
            2,
        ),
        (["--beam", "4", "--keep-width"], Beam(width=4, narrow=False), 1),
    ],
)
def test_options_say_how_to_write(elman, model, options, how, n):
    folder, lm = model
    done = elman("generate", folder, "--prompt", "Once upo", *options)
    assert done.code == 0
    assert done.err == ""
    assert done.out.splitlines() == [text.text for text in generate(lm, "Once upo", how, n=n)]


def test_options_say_within_which_rules(elman, model):
    folder, lm = model
    said = "--max-tokens 9 --min-tokens 5 --no-repeat 2 --repetition-penalty 1.3 --ban tide --ban a --stop up"
    done = elman("generate", folder, "--greedy", *said.split())
    counts = {"max_tokens": 9, "min_tokens": 5, "no_repeat": 2, "repetition_penalty": 1.3}
    rules = GenerationConfig(**counts, banned=("tide", "a"), stop=("up",))
    assert done.out == generate(lm, strategy=Greedy(), config=rules)[0].text + "\n"
    assert elman("generate", folder, "--max-seconds", "0").out.count(" ") == 0


def test_json_has_scores(elman, model):
    done = elman("generate", model[0], "--beam", "3", "-n", "2", "--json", "--prompt", "the")
    texts = [json.loads(line) for line in done.out.splitlines()]
    assert len(texts) == 2
    assert texts[0]["score"] >= texts[1]["score"]
    assert texts[0]["text"] == "the" + texts[0]["continuation"]


def test_a_trace_tells_the_search_on_stderr(elman, model):
    arguments = ["generate", model[0], "--beam", "3", "-n", "2", "--prompt", "Once upo"]
    plain, traced = elman(*arguments), elman(*arguments, "--trace")
    assert traced.out == plain.out
    lines = traced.err.splitlines()
    assert lines[0].startswith("1: width 3, kept 1, pruned ")
    assert "'Once upon'" in lines[1]
    assert any("over: " in line for line in lines)


def test_the_search_is_written_as_a_tree(elman, model, tmp_path):
    arguments = ["generate", model[0], "--beam", "2", "--prompt", "Once upo", "--max-tokens", "4"]
    plain, done = elman(*arguments), elman(*arguments, "--beam-tree", str(tmp_path / "tree.txt"))
    assert (done.out, done.err) == (plain.out, f"beam tree: {tmp_path / 'tree.txt'}\n")
    first, *lines = (tmp_path / "tree.txt").read_text().splitlines()
    assert first == "Once upo"
    assert sum(line.endswith("  best") for line in lines) == 1
    pytest.importorskip("matplotlib")
    assert elman(*arguments, "--beam-tree", str(tmp_path / "tree.png")).code == 0
    assert (tmp_path / "tree.png").read_bytes()[1:4] == b"PNG"
    refused = elman(*arguments, "--beam-tree", "tree")
    assert (refused.code, refused.err) == (1, "elman: tree: a tree ends in .png, .svg, .pdf or .txt\n")


def test_one_text_comes_piece_by_piece_on_a_terminal(elman, model, monkeypatch):
    arguments = ["generate", model[0], "--prompt", "Once upo", "--seed", "1"]
    at_once = elman(*arguments)
    monkeypatch.setattr(sys.stdout.__class__, "isatty", lambda self: True, raising=False)
    assert elman(*arguments) == at_once


@pytest.fixture(scope="module")
def letters(tmp_path_factory):
    folder = tmp_path_factory.mktemp("letters")
    store(folder, "chars", train="book.txt")
    return str(folder)


def test_a_passage_scored_as_running_text_costs_what_writing_it_cost(elman, letters, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    done = elman("generate", letters, "--passage", "--seed", "4", "--max-tokens", "400", "--json")
    text = json.loads(done.out)
    assert text["text"].count("\n") > 3
    cut = text["text"].rindex("\n") + 1  # what follows has no end that could be scored
    (tmp_path / "page.txt").write_text(text["text"][:cut])
    lines = [
        json.loads(line) for line in elman("score", letters, "page.txt", "--running", "--json").out.splitlines()
    ]
    read = [one for line in lines for one in line["log_probs"]]
    [written] = generate(artifact.load(letters), strategy=Sampling(seed=4), passage=True, max_tokens=400)
    assert read == pytest.approx(written.log_probs[:cut], abs=1e-4)
    assert text["log_probability"] == pytest.approx(sum(written.log_probs))


def test_several_texts_begin_with_the_one(elman, model, letters):
    for folder, *options in ((model[0],), (letters,), (letters, "--no-passage")):
        said = ["--seed", "4", "--max-tokens", "30", *options]
        one, three = (elman("generate", folder, *said, "-n", n).out for n in ("1", "3"))
        assert three.startswith(one)
        assert len(three) > len(one)


def test_samples_of_characters_are_passages_unless_told(elman, letters):
    def lines(*options):
        return elman("generate", letters, "--seed", "4", "--max-tokens", "90", *options).out.count("\n")

    assert lines() == lines("--passage") > 3
    assert lines("--no-passage") == lines("--min-tokens", "1") == 1
    assert lines("-n", "2", "--no-passage") == 2
    assert elman("generate", letters, "--greedy").out.count("\n") == 1


def test_passages_are_printed_with_a_rule_between_them(elman, letters):
    done = elman("generate", letters, "--passage", "-n", "2", "--seed", "4", "--max-tokens", "30")
    texts = generate(artifact.load(letters), strategy=Sampling(seed=4), n=2, passage=True, max_tokens=30)
    assert done.out == "---\n".join(text.text.removesuffix("\n") + "\n" for text in texts)


def test_a_passage_comes_piece_by_piece_on_a_terminal(elman, letters, monkeypatch):
    arguments = ["generate", letters, "--prompt", "Once", "--seed", "1"]
    at_once = elman(*arguments)
    monkeypatch.setattr(sys.stdout.__class__, "isatty", lambda self: True, raising=False)
    assert elman(*arguments) == at_once


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (
            "--passage --min-tokens 3",
            "min_tokens is for a text that ends with its line; a passage has max_tokens alone",
        ),
        ("--greedy --beam 3", "--greedy, --sample and --beam exclude each other: choose one"),
        ("--greedy --top-k 3", "--top-k is for sampling, not for --greedy or --beam"),
        ("--trace", "--beam-factor, --keep-width, --length-penalty, --trace and --beam-tree are for --beam K"),
        ("--beam 2 -n 3", "n_best is 3; it must be from 1 to the width, 2"),
        ("--min-tokens 50 --max-tokens 20", "min_tokens is 50; it must be at most 20, max_tokens"),
        ("--stop= --greedy", "stop has an empty string in it, which every text contains"),
        ("--repetition-penalty 0", "--repetition-penalty is 0.0; it must be above 0"),
        ("--temperature 0", "--temperature is 0.0; it must be above 0"),
    ],
)
def test_contradictions_are_one_line(elman, model, options, line):
    done = elman("generate", model[0], *options.split())
    assert done == (1, "", f"elman: {line}\n")


@pytest.mark.parametrize("verb", ["generate", "complete", "score"])
def test_a_folder_of_another_task_is_refused(elman, verb, tmp_path):
    classifier = fresh()
    config = {"task": "classifier", "data": {}, "model": asdict(classifier.config)}
    store_model(classifier, tmp_path, config=config, metrics={}, card="")
    line = f"elman: {tmp_path} holds a classifier: elman predict uses it\n"
    assert elman(verb, str(tmp_path)) == (1, "", line)


@pytest.mark.parametrize("verb", ["generate", "complete", "score"])
def test_every_verb_explains_itself_with_an_example(elman, verb):
    done = elman(verb, "--help")
    assert done.code == 0
    assert f"  elman {verb} models/lm" in done.out
