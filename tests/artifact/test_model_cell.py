"""Models of cells of one's own: a formula is data of the folder, code is the user's to give."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import elman
from elman.artifact.model_digests import with_digests
from elman.cells import Elman, OwnCell, register, registry
from elman.cells.own_cell import hold_cell
from elman.errors import ElmanError, ModelError
from tests.cli.pairs_folder import pairs
from tests.own_cells import MGU, Recall, mgu
from tests.tasks import meetings, names, topics

SMALL = {"epochs": 1, "hidden": 6, "seed": 1}
LINES = ["the cat sat on the mat", "the dog sat on the cat", "a dog and a cat"] * 6
TOPICS = [(e.text, e.label) for e in topics.examples(40)]
NAMES = [(list(e.words), list(e.tags[0])) for e in names.examples(30)]
MEETINGS = [(e.first, e.second, e.label) for e in meetings.examples(40)]
PLACES = {
    "bidirectional layers": (elman.Classifier, TOPICS, {"layers": 2, "bidirectional": True}),
    "one direction, residual": (
        elman.Classifier,
        TOPICS,
        {"layers": 2, "bidirectional": False, "residual": True},
    ),
    "fed-back tags": (elman.Tagger, NAMES, {"output": "autoregressive"}),
    "pairs": (elman.Pairs, MEETINGS, {}),
    "language model": (elman.LanguageModel, LINES, {"layers": 2, "embedding": 6}),
    "gnmt": (elman.Seq2Seq, pairs(30), {"layers": 2, "embedding": 6}),
    "bahdanau": (elman.Seq2Seq, pairs(30), {"layers": 1, "embedding": 6, "decoder": "bahdanau"}),
    "copied states": (
        elman.Seq2Seq,
        pairs(30),
        {"layers": 2, "embedding": 6, "decoder": "plain", "decoder_init": "copied"},
    ),
}
NOISE = {
    "zoneout": (elman.Classifier, TOPICS, {"zoneout": 0.2}),
    "mogrifier, weight drop and zoneout": (
        elman.LanguageModel,
        LINES,
        {"embedding": 6, "mogrifier_rounds": 2, "weight_drop": 0.2, "zoneout": 0.1},
    ),
    "zoneout of a decoder": (elman.Seq2Seq, pairs(30), {"layers": 1, "embedding": 6, "zoneout": 0.1}),
}


def trained(place, cell):
    task, examples, model = place
    return task.train(examples, valid=examples[:8], cell=cell, recipe={"model": model}, **SMALL)


@pytest.mark.parametrize("place", PLACES | NOISE)
def test_a_formula_of_ones_own_is_trained_anywhere_and_comes_back_as_data(place, tmp_path):
    task, examples, _ = (PLACES | NOISE)[place]
    model = trained((PLACES | NOISE)[place], mgu)
    model.save(tmp_path / "m")
    again = task.load(tmp_path / "m")
    assert again.evaluate(examples[:8]) == pytest.approx(model.evaluate(examples[:8]), rel=1e-5)
    assert again.config.cell == model.config.cell
    assert "× mgu" in (tmp_path / "m" / "README.md").read_text() or "mgu" in repr(again)


@pytest.mark.parametrize("place", PLACES)
def test_code_of_ones_own_is_trained_anywhere_and_asked_for_when_loaded(place, tmp_path):
    task, examples, _ = PLACES[place]
    model = trained(PLACES[place], Recall)
    model.save(tmp_path / "m")
    with pytest.raises(ModelError, match=r"is code, which a folder does not hold \(Recall is not made"):
        task.load(tmp_path / "m")
    again = task.load(tmp_path / "m", cell=Recall)
    assert again.evaluate(examples[:8]) == pytest.approx(model.evaluate(examples[:8]), rel=1e-5)


@pytest.mark.parametrize("place", NOISE)
def test_noise_that_needs_a_formula_is_refused_for_code(place):
    with pytest.raises(ElmanError, match="Recall has no formula of its own"):
        trained(NOISE[place], Recall)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A classifier of a class with first weights of its own, and one of code."""
    made = tmp_path_factory.mktemp("own")
    trained((elman.Classifier, TOPICS, {}), MGU).save(made / "mgu")
    trained((elman.Classifier, TOPICS, {}), Recall).save(made / "recall")
    return made


ELSEWHERE = """
import sys, elman
model = elman.load(sys.argv[1])
print(model.config.cell.digest, *(round(p, 6) for p in model.evaluate([("when is it", "time")]).values()))
print("tests" in sys.modules, "tests.own_cells" in sys.modules)
"""


def test_a_process_without_the_module_has_the_same_model_and_executes_nothing_of_it(folder, tmp_path):
    here = elman.load(folder / "mgu")
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, str(folder / "mgu")], capture_output=True, text=True, cwd=tmp_path
    )
    scores = " ".join(str(round(p, 6)) for p in here.evaluate([("when is it", "time")]).values())
    assert done.stdout == f"{here.config.cell.digest} {scores}\nFalse False\n", done.stderr


def test_a_given_cell_must_be_the_one_that_is_stored(folder, tmp_path):
    assert elman.load(folder / "mgu", cell=MGU).config.cell == elman.load(folder / "mgu").config.cell
    with pytest.raises(ModelError, match=r"was trained with 'MGU' \(formula \w+\), not with 'Recall'"):
        elman.load(folder / "mgu", cell=Recall)
    with pytest.raises(ModelError, match=r"not with 'MGU' \(formula "):
        elman.load(folder / "mgu", cell=hold_cell(Elman, "another", "MGU"))
    topics.fresh().save(tmp_path / "lstm")
    with pytest.raises(ModelError, match="was trained with the cell 'lstm', not with 'Recall'"):
        elman.load(tmp_path / "lstm", cell=Recall)
    assert elman.load(tmp_path / "lstm", cell="lstm").config.cell == "lstm"


def test_code_that_a_program_registered_is_taken(folder, monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})
    register("Recall", Recall)
    assert isinstance(elman.load(folder / "recall").config.cell, OwnCell)


def tampered(folder: Path, out: Path, change) -> Path:
    """A copy whose cell.json or config.json is another one, signed by whoever changed it."""
    shutil.copytree(folder, out)
    cell, config = (json.loads((out / name).read_text()) for name in ("cell.json", "config.json"))
    change(cell, config)
    (out / "cell.json").write_text(json.dumps(cell))
    (out / "config.json").write_text(json.dumps(with_digests(config, out)))
    return out


def put(place, *keys):
    *path, last, value = keys

    def change(cell, config):
        inner = cell if place == "cell" else config
        for key in path:
            inner = inner[key]
        inner[last] = value

    return change


TAMPERED = {
    "an operation": (put("cell", "formula", "values", 3, 0, "system"), "there is no operation 'system'"),
    "code for data": (put("cell", "code", "os:system"), "is code, which a folder does not hold"),
    "another name": (put("cell", "name", "lstm"), "but config.json asks for another"),
    "a reference": (put("config", "model", "cell", "os:system"), "but config.json asks for another"),
    "a width": (put("cell", "widths", {"": [1 << 19, 0]}), "larger than its weights"),
    "heads": (put("cell", "heads", 3), "disagree"),
    "no bias": (put("cell", "bias", False), "disagree"),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_a_stored_cell_that_was_tampered_with_is_refused(what, folder, tmp_path):
    change, why = TAMPERED[what]
    with pytest.raises(ModelError, match=why):
        elman.load(tampered(folder / "mgu", tmp_path / "m", change))


def test_a_changed_or_missing_cell_is_damage(folder, tmp_path):
    shutil.copytree(folder / "mgu", tmp_path / "m")
    cell = tmp_path / "m" / "cell.json"
    cell.write_text(cell.read_text().replace("tanh", "relu"))
    with pytest.raises(ModelError, match="is damaged or was changed"):
        elman.load(tmp_path / "m")
    cell.unlink()
    with pytest.raises(ModelError, match="is missing"):
        elman.load(tmp_path / "m")


def test_a_folder_that_names_a_file_does_not_have_it_imported(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("evil.py").write_text("raise SystemExit('imported')")
    Path("evil.json").write_text("{}")
    made = tampered(folder / "mgu", tmp_path / "m", put("config", "model", "cell", "evil.py:x"))
    (made / "cell.json").unlink()
    config = json.loads((made / "config.json").read_text())
    (made / "config.json").write_text(json.dumps(with_digests(config, made)))
    with pytest.raises(ModelError, match=r"unknown cell 'evil\.py:x'"):
        elman.load(made)
