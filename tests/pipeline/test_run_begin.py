"""How a run is begun: what its data chooses is printed, stored and resumed; a recipe is literal; devices."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import elman
from elman.errors import ConfigError, ModelError
from elman.pipeline import run_recipe
from elman.pipeline.choose_defaults import list_keys
from elman.pipeline.default_rules import Rule
from elman.pipeline.recipe import build
from elman.pipeline.run_begin import find_run_device
from elman.pipeline.start_options import take_options
from elman.tasks.classifier.task import Classifier
from elman.training import training_loop
from tests.tasks.topics import TINY, examples, table

ROWS = [(e.text, e.label) for e in examples(40)]


@pytest.fixture(autouse=True)
def rules(monkeypatch) -> None:
    """One made-up rule, for every run of forty examples or more."""
    sets = {"training.lr": 0.0123, "model.hidden": 9, "training.grad_clip": 7.0}
    made = Rule("classifier", "forty examples", lambda facts: facts.examples >= 40, sets)
    monkeypatch.setattr("elman.pipeline.choose_defaults.RULES", (made,))


def sections(folder: Path, **training: Any) -> dict[str, Any]:
    data = {"train": table(folder / "a.tsv", 40), "valid": table(folder / "b.tsv", 10, 1)}
    model = {name: value for name, value in TINY.items() if name != "hidden"} | {"encoder": "rnn"}
    fixed = {"updates": 6, "evaluate_every": 2, "baseline": False}
    return {"task": "classifier", "data": data, "model": model, "training": fixed | training}


def run(plain: dict[str, Any], out: Path, **options: Any):
    return run_recipe(build(plain), out, given=frozenset(list_keys(plain)), **options)


def read(folder: Path, name: str) -> dict[str, Any]:
    return json.loads((folder / name).read_text())


def test_the_choice_is_printed_in_one_line_and_stands_in_the_folder(tmp_path, capsys):
    outcome = run(sections(tmp_path, grad_clip=3.0), tmp_path / "m")
    (line,) = [one for one in capsys.readouterr().err.splitlines() if one.startswith("chosen for ")]
    assert line.endswith(" words, 2 classes: training.lr 0.0123, model.hidden 9")
    assert line.startswith("chosen for 40 texts of ")
    config = read(tmp_path / "m", "config.json")
    assert (config["training"]["lr"], config["training"]["grad_clip"]) == (0.0123, 3.0)
    assert config["model"]["hidden"] == outcome.model.config.hidden == 9
    assert read(tmp_path / "m", "run.json")["chosen"] == {"training.lr": 0.0123, "model.hidden": 9}


def test_a_recipe_is_literal(tmp_path, capsys):
    plain = sections(tmp_path)
    run_recipe(build(plain), tmp_path / "m")
    elman.train(plain, tmp_path / "n")
    assert "chosen for" not in capsys.readouterr().err
    for folder in (tmp_path / "m", tmp_path / "n"):
        config = read(folder, "config.json")
        assert config["training"]["lr"] == build(plain).training.lr != 0.0123
        assert "chosen" not in read(folder, "run.json")


def test_a_dict_is_completed_by_the_data_only_where_that_is_asked_for(tmp_path, capsys):
    model = elman.train(sections(tmp_path), choose_defaults=True, set=["training.lr=0.5"])
    assert model.config.hidden == 9
    assert model.record.config["training"]["lr"] == 0.5
    assert "training.lr" not in capsys.readouterr().err
    (tmp_path / "r.toml").write_text('task = "classifier"')
    with pytest.raises(ConfigError, match="choose_defaults is for a dict"):
        elman.train(tmp_path / "r.toml", choose_defaults=True)


def test_rows_in_python_are_completed_by_the_data(capsys):
    options = {"epochs": 1, "recipe": {"training": {"baseline": False}}}
    assert Classifier.train(ROWS, valid=ROWS[:4], **options).config.hidden == 9
    assert Classifier.train(ROWS, valid=ROWS[:4], hidden=5, **options).config.hidden == 5
    assert capsys.readouterr().err.count("chosen for 40 texts") == 2
    assert Classifier.train(ROWS[:20], valid=ROWS[:4], **options).config.hidden != 9


def test_a_resumed_run_keeps_its_choice_whatever_the_rules_say_now(tmp_path, monkeypatch, capsys):
    plain = sections(tmp_path)

    def cut(*arguments, **options):
        for event in training_loop.fit(*arguments, **options):
            yield event
            if getattr(event, "due", False):
                raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("elman.pipeline.train_recipe.fit", cut)
        with pytest.raises(KeyboardInterrupt):
            run(plain, tmp_path / "m")
    monkeypatch.setattr("elman.pipeline.choose_defaults.RULES", ())
    assert capsys.readouterr().err.count("chosen for") == 1
    outcome = run(plain, tmp_path / "m", resume=True)
    assert outcome.model.config.hidden == 9
    assert "chosen for" not in capsys.readouterr().err
    chosen = {"training.lr": 0.0123, "model.hidden": 9, "training.grad_clip": 7.0}
    assert read(tmp_path / "m", "run.json")["chosen"] == chosen
    assert read(tmp_path / "m", "config.json")["training"]["lr"] == 0.0123


def test_whoever_goes_on_from_a_model_means_its_options(tmp_path, capsys):
    first = sections(tmp_path)
    first["model"] |= {"hidden": 5, "pool": "mean"}
    first["tokens"] = {"lower": True}
    run(first, tmp_path / "m")
    capsys.readouterr()
    plain = {"task": "classifier", "data": first["data"], "training": first["training"]}
    outcome = run(plain, tmp_path / "n", init=tmp_path / "m")
    assert (outcome.model.config.hidden, outcome.model.config.pool) == (5, "mean")
    assert read(tmp_path / "n", "config.json")["tokens"]["lower"] is True
    assert "model.hidden" not in read(tmp_path / "n", "run.json")["chosen"]
    assert ", a trained model: training.lr 0.0123, training.grad_clip 7\n" in capsys.readouterr().err


def test_what_is_given_beside_a_model_is_not_taken_from_it(tmp_path):
    first = sections(tmp_path)
    first["model"] |= {"hidden": 5, "dropout": 0.1}
    run(first, tmp_path / "m")
    plain = {"task": "classifier", "model": {"dropout": 0.3}}
    taken, keys = take_options(build(plain), frozenset(list_keys(plain)), tmp_path / "m")
    assert (taken.model.hidden, taken.model.dropout) == (5, 0.3)
    assert {"task", "model.dropout", "model.hidden", "tokens.kind"} <= keys
    assert not any(key.startswith("training.") for key in keys)


def test_a_model_of_another_task_gives_no_options(tmp_path):
    run(sections(tmp_path), tmp_path / "m")
    fresh = build({"task": "pairs"})
    assert take_options(fresh, frozenset({"task"}), tmp_path / "m") == (fresh, frozenset({"task"}))


@pytest.fixture
def gpu(monkeypatch):
    """A machine with a GPU, as far as choosing goes."""
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.get_device_name", lambda device: "Some GPU")
    monkeypatch.setattr("elman.pipeline.run_begin.find_device", lambda name: None)


def test_auto_takes_a_gpu_and_says_so(gpu, capsys):
    assert find_run_device("auto") == "cuda"
    assert capsys.readouterr().err == "computes on the GPU (Some GPU); --device cpu takes the CPU\n"


def test_a_device_that_was_asked_for_is_taken_in_silence(gpu, capsys):
    assert [find_run_device(name) for name in ("cpu", "cuda")] == ["cpu", "cuda"]
    assert capsys.readouterr().err == ""


def test_without_a_gpu_auto_is_the_cpu(monkeypatch, capsys):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert find_run_device("auto") == "cpu"
    assert capsys.readouterr().err == ""


def test_of_several_processes_none_takes_a_gpu_unless_asked(gpu, monkeypatch, capsys):
    monkeypatch.setattr("elman.pipeline.run_begin.count_processes", lambda: 2)
    assert [find_run_device(name) for name in ("auto", "cuda")] == ["cpu", "cuda"]
    assert capsys.readouterr().err == ""


def test_a_run_is_resumed_by_its_own_task_only(tmp_path):
    run(sections(tmp_path), tmp_path / "m")
    text = tmp_path / "text.txt"
    text.write_text("when is the city\n" * 40)
    plain = {"task": "lm", "data": {"train": str(text)}, "training": {"updates": 6}}
    with pytest.raises(ModelError, match="is of elman train classifier: elman train lm cannot resume it"):
        run(plain, tmp_path / "m", resume=True)


@pytest.mark.parametrize("chosen", [["model.hidden"], {"model.no_such": 3}, {"nothing.lr": 3}, 7])
def test_a_damaged_record_of_a_run_is_one_sentence(tmp_path, chosen):
    plain = sections(tmp_path)
    run(plain, tmp_path / "m")
    record = read(tmp_path / "m", "run.json") | {"chosen": chosen}
    (tmp_path / "m" / "run.json").write_text(json.dumps(record))
    with pytest.raises(ModelError, match=r"run\.json"):
        run(plain, tmp_path / "m", resume=True)
