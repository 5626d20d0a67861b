"""elman inspect as a person meets it."""

import json
import sys
from dataclasses import asdict

import pytest

from elman.cells import count_parameters
from elman.inspect.text_explanation import explain
from elman.training.events import Evaluation, Update
from elman.training.metrics_log import MetricsLog
from tests.cli.lm_folder import call
from tests.inspect.models import SENTENCE, TEXT, classifier, lm, tagger
from tests.model_folder import store_model

MODELS = {
    "classifier": (lambda: classifier(pool="attention"), TEXT),
    "tagger": (lambda: tagger("crf"), SENTENCE),
    "lm": (lm, "Once upon a tide"),
}


@pytest.fixture(scope="module", params=MODELS)
def stored(request, tmp_path_factory):
    """A folder as training leaves it, its model, and a text."""
    make, text = MODELS[request.param]
    model, folder = make(), tmp_path_factory.mktemp(request.param)
    model.net.float()
    config = {
        "task": request.param,
        "data": {"train": "some.file"},
        "model": asdict(model.config),
        "training": {"lr": 0.25, "patience": 0},
    }
    metrics = {"valid": {model.metric: 71.5}, "updates": 1234, "stopped": "patience"}
    store_model(model, folder, config=config, metrics=metrics, card="")
    log = MetricsLog(folder / "metrics.jsonl")
    for number in (1, 2):
        log.show(Update(number, number, 0.5, 1.0 / number, 0.1, 1.0, 1.0))
        log.show(Evaluation(number, {model.metric: 71.5}, model.metric, number == 1))
    log.close()
    return folder, model, text


@pytest.fixture
def elman(monkeypatch, capsys):
    return lambda *arguments: call(monkeypatch, capsys, *map(str, arguments))


def test_a_model_is_told_with_its_layers_formulas_training_and_scores(elman, stored):
    folder, model, _ = stored
    done = elman("inspect", folder)
    assert (done.code, done.err) == (0, "")
    assert f"{count_parameters(model.net):,}" in done.out
    assert "c' = f ⊙ c + i ⊙ z" in done.out
    assert "trained on some.file: updates 1,234, stopped patience, epochs 2" in done.out
    assert "best after update 1, in epoch 1" in done.out
    assert "settings: lr 0.25\n" in done.out
    assert f"valid: {model.metric} 71.50\n" in done.out


def test_of_a_text_every_token_is_shown_with_its_share(elman, stored):
    folder, model, text = stored
    done = elman("inspect", folder, "--text", text)
    assert (done.code, done.err) == (0, "")
    reading = explain(model, text)
    lines = done.out.splitlines()
    for s in reading.saliency:
        pairs = zip(reading.tokens, s.shares, strict=True)
        shares = lines[lines.index(s.title) + 1].split("\t")
        assert shares == [f"{token} {share:+.2f}" for token, share in pairs]
    assert ("attention:" in done.out) == (reading.attention is not None)
    assert ("surprisal:" in done.out) == (reading.surprisal is not None)
    assert "layer 1 forward" in done.out


def test_json_is_one_object_with_the_numbers_and_nothing_else(elman, stored):
    folder, model, text = stored
    done = elman("inspect", folder, "--text", text, "--json")
    assert (done.code, done.err) == (0, "")
    found, reading = json.loads(done.out), explain(model, text)
    assert found["parameters"] == sum(layer["parameters"] for layer in found["layers"])
    assert found["training"]["best"]["update"] == 1
    told = found["text"]
    assert told["tokens"] == reading.tokens
    assert len(told["gates"]) == len(reading.gates)
    for one, gates in zip(told["gates"], reading.gates, strict=True):
        assert one["values"]["f"][-1] == pytest.approx(gates.values["f"][-1].tolist(), abs=1e-5)
    for one, s in zip(told["saliency"], reading.saliency, strict=True):
        assert one["shares"] == pytest.approx(s.shares.tolist(), abs=1e-5)
    opened = [number for one in told["gates"] for row in one["values"]["f"] for number in row]
    assert opened == [round(number, 6) for number in opened]
    assert opened != [round(number, 5) for number in opened]
    assert "text" not in json.loads(elman("inspect", folder, "--json").out)


def test_how_far_back_units_remember_is_drawn_where_it_is_said(elman, stored, tmp_path):
    pytest.importorskip("matplotlib")
    folder, _, text = stored
    done = elman("inspect", folder, "--text", text, "--horizon", "--out", tmp_path / "plots")
    picture = tmp_path / "plots" / "memory.png"
    assert f"memory: {picture}\n" in done.err
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_how_far_back_units_remember_is_told_of_every_layer(elman, stored):
    folder, model, text = stored
    told = json.loads(elman("inspect", folder, "--text", text, "--horizon", "--json").out)
    assert [one["layer"] for one in told["memory"]] == [g.name for g in explain(model, text).gates]
    for one in told["memory"]:
        assert len(one["units"]) == len(one["horizons"])
        assert one["mean_gradient"][0] > 0
    done = elman("inspect", folder, "--text", text, "--horizon")
    assert "memory: tokens back to which a unit's gradient" in done.out
    refused = elman("inspect", folder, "--horizon")
    assert refused == (1, "", "elman: --horizon measures memory on a text, but --text is missing\n")


def test_pictures_are_drawn_where_they_are_asked_for(elman, stored, tmp_path):
    folder, model, text = stored
    done = elman("inspect", folder, "--text", text, "--out", tmp_path / "a" / "b", "--json")
    assert done.code == 0
    json.loads(done.out)
    reading = explain(model, text)
    expected = {"learning_curve", "saliency"}
    expected |= {f"gates-{g.layer}-{g.direction}" for g in reading.gates}
    expected |= {"attention"} if reading.attention is not None else set()
    expected |= {"surprisal"} if reading.surprisal is not None else set()
    drawn = sorted((tmp_path / "a" / "b").iterdir())
    assert [path.name for path in drawn] == sorted(f"{name}.png" for name in expected)
    assert all(path.read_bytes()[1:4] == b"PNG" for path in drawn)
    assert all(str(path) in done.err for path in drawn)


@pytest.mark.parametrize(("format", "begins"), [("svg", b"<?xml"), ("PDF", b"%PDF")])
def test_pictures_have_the_format_that_is_asked_for(elman, stored, tmp_path, format, begins):
    folder, _, text = stored
    assert elman("inspect", folder, "--text", text, "--out", tmp_path, "--format", format).code == 0
    drawn = [*tmp_path.iterdir()]
    assert len(drawn) > 2
    assert all(path.suffix == f".{format.lower()}" and path.read_bytes().startswith(begins) for path in drawn)


def test_a_format_without_a_folder_is_refused(elman, stored):
    line = "elman: --format is that of plots, but --out is missing: which folder?\n"
    assert elman("inspect", stored[0], "--format", "svg") == (1, "", line)


def test_tokens_are_coloured_on_a_terminal_unless_colours_are_not_wanted(elman, stored, monkeypatch):
    folder, _, text = stored
    monkeypatch.setattr(sys.stdout.__class__, "isatty", lambda self: True, raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    last = elman("inspect", folder, "--text", text).out.rsplit("saliency", 1)[1]
    assert "\x1b[" in last
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in elman("inspect", folder, "--text", text).out


def test_a_folder_without_its_log_has_no_learning_curve(elman, stored, tmp_path):
    copied = tmp_path / "copy"
    copied.mkdir()
    for path in stored[0].iterdir():
        if path.name != "metrics.jsonl":
            (copied / path.name).write_bytes(path.read_bytes())
    done = elman("inspect", copied, "--out", tmp_path)
    assert (done.code, done.err) == (0, "no learning curve: the folder has no log of its training\n")
    assert "best after" not in done.out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--text", " "], "elman: the text is empty: there is nothing to read\n"),
        (["--word", "1"], "elman: --word says which word of a text, but --text is missing\n"),
    ],
)
def test_a_wrong_call_is_one_line(elman, stored, arguments, line):
    assert elman("inspect", stored[0], *arguments) == (1, "", line)


def test_a_missing_folder_is_one_line(elman, tmp_path):
    done = elman("inspect", tmp_path / "none")
    assert done == (1, "", f"elman: {tmp_path / 'none'}: there is no such folder\n")


def test_without_matplotlib_nothing_is_said_but_what_to_install(elman, stored, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    line = 'elman: pictures need matplotlib: pip install "elman[plot]", or ask for no picture\n'
    assert elman("inspect", stored[0], "--out", tmp_path, "--json") == (1, "", line)


def test_that_matplotlib_is_missing_is_said_before_anything_is_read(elman, tmp_path, monkeypatch):
    monkeypatch.setattr("elman.files.picture_files.find_spec", lambda name: None)
    line = 'elman: pictures need matplotlib: pip install "elman[plot]", or ask for no picture\n'
    assert elman("inspect", tmp_path / "no model", "--out", tmp_path / "plots") == (1, "", line)


def test_executors_are_told_as_a_table_and_as_numbers(elman, stored):
    folder = stored[0]
    lines = elman("inspect", folder, "--executors").out.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("executors on the CPU"))
    assert lines[first + 1].split()[:4] == ["layer", "cell", "mode", "executor"]
    found = json.loads(elman("inspect", folder, "--executors", "--json").out)["executors"]
    assert len(found) == len(lines) - first - 2
    assert {one["executor"] for one in found} <= {
        *("parallel", "cpu", "torch", "codegen", "loop", "step by step", "CUDA graph")
    }
