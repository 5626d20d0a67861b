"""--cache, --dynamic and --running of score, generate and complete, as a person meets them."""

import json
import math
import sys

import pytest

from elman.decoding import Beam, Greedy
from elman.generation import AdaptedLM, Cache, DynamicEval, complete
from elman.number_format import format_percent
from tests.cli.lm_folder import call, store
from tests.cli.test_complete import Terminal

LINES = ["once up a tide", "a tide , a tide", "Once upon"]
CACHE = ["--cache", "--set", "cache.window=7", "--set", "cache.theta=0.3", "--set", "cache.share=0.4"]
DYNAMIC = ["--dynamic", "--set", "dynamic.rate=0.01", "--set", "dynamic.warm=1", "--set", "dynamic.steps=3"]
WAYS = {
    "cache": (CACHE, {"cache": Cache(window=7, theta=0.3, share=0.4)}),
    "dynamic": (DYNAMIC, {"dynamic": DynamicEval(rate=0.01, warm=1, steps=3)}),
}
WAYS["both"] = ([*CACHE, *DYNAMIC], WAYS["cache"][1] | WAYS["dynamic"][1])


@pytest.fixture(scope="module", params=["words", "chars"])
def model(tmp_path_factory, request):
    folder = tmp_path_factory.mktemp("lm")
    return str(folder), store(folder, request.param)


@pytest.fixture
def elman(monkeypatch, capsys):
    return lambda *arguments, **options: call(monkeypatch, capsys, *arguments, **options)


@pytest.fixture(params=WAYS.values(), ids=WAYS)
def way(request):
    return request.param


def test_lines_are_scored_each_by_itself(elman, model, way):
    folder, lm = model
    done = elman("score", folder, "--json", *way[0], stdin="\n".join(LINES) + "\n")
    assert (done.code, done.err) == (0, "")
    for line, text in zip(done.out.splitlines(), LINES, strict=True):
        expected = lm.score(text, **way[1]).log_probs
        assert json.loads(line)["log_probs"] == pytest.approx(expected, rel=1e-5)


def test_running_lines_are_scored_as_evaluate_reads_them(elman, model, way, tmp_path):
    folder, _ = model
    (tmp_path / "text").write_text("\n".join(LINES * 3) + "\n")
    file = str(tmp_path / "text")
    scored = elman("score", folder, file, "--running", *way[0])
    evaluated = json.loads(elman("evaluate", folder, file, "--json", *way[0]).out)
    tokens, perplexity = scored.err.split(" tokens, perplexity ")
    assert int(tokens) == evaluated["tokens"]
    assert float(perplexity) == pytest.approx(evaluated["perplexity"], rel=1e-4)
    total = sum(float(line.split("\t")[0]) for line in scored.out.splitlines())
    assert math.exp(-total / int(tokens)) == pytest.approx(evaluated["perplexity"], rel=1e-4)
    assert elman("score", folder, file, *way[0]).out != scored.out


@pytest.mark.parametrize(("options", "how"), [(["--greedy"], Greedy()), (["--beam", "3"], Beam(width=3))])
def test_texts_are_written_after_the_prompt_was_learnt_or_remembered(
    elman, model, way, options, how, monkeypatch
):
    folder, lm = model
    prompt = "\n".join(LINES) + " a "
    arguments = ["generate", folder, "--prompt", prompt, *options, *way[0]]
    done = elman(*arguments)
    assert (done.code, done.err) == (0, "")
    (expected,) = lm.generate(prompt, how, **way[1])
    assert done.out == f"{expected.text}\n"
    monkeypatch.setattr(sys.stdout.__class__, "isatty", lambda self: True, raising=False)
    assert elman(*arguments) == done, "piece by piece on a terminal"


def test_texts_are_completed_after_their_beginning_was_learnt_or_remembered(elman, model, way):
    folder, lm = model
    text = "\n".join(LINES) + " up"
    done = elman("complete", folder, text, *way[0])
    expected = lm.complete(text, **way[1])
    assert done == (0, "".join(f"{one.text}\t{one.probability:.4f}\n" for one in expected), "")


def test_running_lines_are_completed_after_those_before(elman, model, way):
    folder, lm = model
    done = elman("complete", folder, "--running", "-k", "2", *way[0], stdin="\n".join(LINES))
    assert (done.code, done.err) == (0, "")
    following = AdaptedLM(lm, **way[1])
    for line, said in zip(LINES, done.out.splitlines(), strict=True):
        found = complete(following, line, 2)
        assert said == "\t".join(f"{one.text} {one.probability:.4f}" for one in found)
        following.read(line)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["score", "--set", "cache.window=3"], "--set cache needs --cache, too"),
        (["complete", "a", "--cache", "--set", "cache.windw=3"], "did you mean 'window'"),
        (["generate", "--cache", "--set", "cache.share=1"], "cache.share is 1.0; it must be at"),
        (["generate", "--dynamic"], "--dynamic adapts to the prompt: give a --prompt"),
        (["complete", "a", "--running"], "--running is for lines of standard input; leave out TEXT"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(elman, model, arguments, said):
    verb, *rest = arguments
    done = elman(verb, model[0], *rest)
    assert (done.code, done.out) == (1, "")
    assert said in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments", [["score"], ["score", "--running"], ["generate", "--prompt", "a tide"], ["complete", "a tide"]]
)
def test_too_little_text_to_learn_from_is_said(elman, model, arguments):
    verb, *rest = arguments
    done = elman(verb, model[0], *rest, "--dynamic", stdin="a tide\n")
    assert done.code == 0
    line = done.err.splitlines()[-1]
    assert line.startswith("--dynamic changed nothing: the first 200 tokens ")
    enough = elman(verb, model[0], *rest, "--dynamic", "--set", "dynamic.warm=0", stdin="a tide\n")
    assert "changed nothing" not in enough.err


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_lines_that_were_typed_are_remembered(tmp_path):
    lm = store(tmp_path)
    terminal = Terminal("complete", str(tmp_path), "-k", "9", "--running", *CACHE)
    terminal.wait_for("%")
    for _ in range(3):
        terminal.press("Once upper\n")
        terminal.wait_for("Once upper\r\n")
    terminal.press("Once up")
    following = AdaptedLM(lm, **WAYS["cache"][1])
    for _ in range(3):
        following.read("Once upper")
    best = complete(following, "Once up")[0]
    assert best.probability != pytest.approx(lm.complete("Once up")[0].probability, abs=0.02)
    terminal.wait_for(f"{best.text} {format_percent(best.probability)}")
    terminal.press("\x04")
    assert terminal.process.wait(60) == 0
    assert terminal.process.stderr.read() == b""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_while_typing_dynamic_wants_lines_to_learn_from(tmp_path):
    store(tmp_path)
    terminal = Terminal("complete", str(tmp_path), "--dynamic")
    assert terminal.process.wait(60) == 1
    said = terminal.process.stderr.read().decode()
    assert said == "elman: --dynamic adapts to the lines before this one: add --running\n"
