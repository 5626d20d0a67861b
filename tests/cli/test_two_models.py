"""Two models side by side: what is printed of a difference, and what cannot be compared."""

import json
from pathlib import Path

import pytest

from elman.artifact import FORMAT
from elman.cli.decoding_options import DecodingOptions
from elman.cli.evaluation_run import EvaluationRun, split_folders
from elman.cli.two_models import _record, _show, evaluate_two
from elman.errors import ConfigError
from elman.inspect.model_comparison import ModelComparison
from elman.metrics import PairedResult

FOLDERS = [Path("one"), Path("other")]
RUN = EvaluationRun(("t.tsv",), {}, DecodingOptions({}), "cpu", {})


def paired(a, b, p):
    made = PairedResult(**dict.fromkeys(PairedResult._fields, 0.0))
    return made._replace(a=a, b=b, difference=b - a, low=b - a - 1, high=b - a + 1, p=p)


def test_a_difference_has_its_sign_its_interval_and_its_probability(capsys):
    scores = {"accuracy": paired(90.0, 92.5, 0.04321), "macro_f1": paired(50.0, 48.0, 0.0009)}
    scores |= {"tied": paired(50.0, 50.0, 0.001)}
    _show(ModelComparison("examples", 1234, scores, 0, 1100, "a note"), FOLDERS)
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "A: one",
        "B: other",
        "examples 1,234",
        "A B B - A 95 % interval p",
        "accuracy 90.00 92.50 +2.50 1.50 to 3.50 0.043",
        "macro_f1 50.00 48.00 -2.00 -3.00 to -1.00 < 0.001",
        "tied 50.00 50.00 0.00 -1.00 to 1.00 0.001",
        "only A is right: 0, only B: 1,100",
        "a note",
    ]
    _show(ModelComparison("lines", 3, {}), FOLDERS)
    assert capsys.readouterr().out.splitlines()[:3] == ["A: one", "B: other", "lines 3"]


def test_as_json_the_same_is_said():
    one = paired(1.0, 2.0, 0.5)
    told = json.loads(json.dumps(_record(ModelComparison("examples", 7, {"x": one}, 1, 2, "n"), FOLDERS)))
    assert told.pop("scores") == {"x": one._asdict()}
    assert told == {"a": "one", "b": "other", "examples": 7, "only_a_right": 1, "only_b_right": 2, "note": "n"}
    bare = _record(ModelComparison("lines", 7, {}), FOLDERS)
    assert bare == {"a": "one", "b": "other", "lines": 7, "scores": {}}


def folder(path, task):
    path.mkdir()
    (path / "config.json").write_text(json.dumps({"elman": FORMAT, "task": task, "data": {}, "model": {}}))
    return path


def test_the_folders_come_first_and_are_those_with_a_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b", "c"):
        folder(Path(name), "classifier")
    assert split_folders(["a", "t.tsv"]) == ([Path("a")], ("t.tsv",))
    assert split_folders(["a", "b", "t.en", "t.de"]) == ([Path("a"), Path("b")], ("t.en", "t.de"))
    assert split_folders(["a", "t.tsv", "b"]) == ([Path("a")], ("t.tsv", "b"))
    assert split_folders(["a", "b", "c"]) == ([Path("a"), Path("b"), Path("c")], ())
    assert split_folders(["missing", "./x"]) == ([Path("missing")], ("./x",))


def test_three_models_and_models_of_two_tasks_are_not_compared(tmp_path):
    one, other = folder(tmp_path / "one", "classifier"), folder(tmp_path / "two", "lm")
    with pytest.raises(ConfigError, match=r"^two models are compared at a time, not 3$"):
        evaluate_two([one, one, one], RUN, as_json=False)
    with pytest.raises(ConfigError, match=r"one holds .*, .*two .*: models of one task can be compared$"):
        evaluate_two([one, other], RUN, as_json=False)
