"""How the training of a trial is begun: what the process is told, by what an earlier search has left."""

from pathlib import Path

import pytest

from elman.files.model_files import CHECKPOINT, CONFIG, FOLDS
from elman.pipeline import trial_run
from elman.pipeline.recipe import build
from elman.pipeline.trial_run import Launcher


@pytest.fixture
def words_of(tmp_path, monkeypatch):
    """The words after the folder with which a training is begun; None where none is begun."""
    told: list[list[str]] = []
    monkeypatch.setattr(trial_run, "start_process", lambda words, log: told.append([*words]))
    recipe = build({"task": "classifier", "data": {"train": str(tmp_path / "a.tsv")}})

    def begin(folder: Path, folds: int) -> list[str] | None:
        told.clear()
        Launcher(["elman"], "cpu", folds).start(recipe, folder, trial=0, rung=0)
        for words in told:
            assert words[:4] == ["elman", "train", f"{folder}.toml", "--out"]
            return words[words.index("cpu") + 1 :]
        return None

    return begin


def put(folder: Path, name: str, content: str = "{}") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(content)


def test_a_training_is_begun_resumed_or_over(tmp_path, words_of):
    folder = tmp_path / "run"
    assert words_of(folder, 0) == []
    put(folder, CHECKPOINT)
    assert words_of(folder, 0) == ["--resume"]
    put(folder, CONFIG, '{"elman": 2}')
    assert words_of(folder, 0) is None


def test_folds_are_resumed_from_the_first_and_over_with_the_last(tmp_path, words_of):
    folder = tmp_path / "run"
    assert words_of(folder, 3) == ["--folds", "3"]
    put(folder / "fold-1", CHECKPOINT)
    assert words_of(folder, 3) == ["--folds", "3", "--resume"]
    put(folder, FOLDS)
    put(folder / "fold-2", CONFIG, '{"elman": 2}')
    assert words_of(folder, 3) == ["--folds", "3", "--resume"]
    put(folder / "fold-3", CONFIG, '{"elman": 2}')
    assert words_of(folder, 3) is None
