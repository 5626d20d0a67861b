"""Names that are not UTF-8 are read, written down and answered like others."""

import json
import os
from pathlib import Path

import pytest

import elman
from tests.tasks.topics import TINY, table

FILE, FOLDER = (os.fsdecode(name) for name in (b"caf\xe9.tsv", b"mod\xe8le"))


def recipe(folder: Path) -> dict[str, object]:
    data = {part: str(folder / FILE) for part in ("train", "valid", "test")}
    return {"task": "classifier", "data": data, "model": TINY, "training": {"updates": 2}}


@pytest.fixture
def trained(tmp_path):
    try:
        table(tmp_path / FILE, 40)
    except OSError:
        pytest.skip("this file system has names in UTF-8 only")
    elman.train(recipe(tmp_path), tmp_path / FOLDER)
    return tmp_path / FOLDER


def test_training_writes_such_names_as_text(trained):
    for name in ("config.json", "run.json", "README.md"):
        content = (trained / name).read_text("utf-8")
        assert r"caf\udce9.tsv" in content.replace(r"\\", "\\"), name
        if name.endswith(".json"):
            json.dumps(json.loads(content), ensure_ascii=False).encode()  # it holds no half of a surrogate pair


def test_a_folder_of_such_a_name_is_a_model_and_a_run_that_can_be_resumed(trained, tmp_path):
    assert elman.load(trained, elman.Classifier).classify(["when"])[0].label in ("time", "place")
    elman.train(recipe(tmp_path), trained, resume=True)


def test_the_place_of_an_example_in_such_a_file_can_be_written(trained, tmp_path):
    model = elman.load(trained)
    assert next(iter(model.read(model.defaults.data, str(tmp_path / FILE)))).where.encode()


def test_files_of_such_names_are_read_from_a_folder_of_classes(tmp_path):
    for label in ("time", "place"):
        (tmp_path / label).mkdir()
        (tmp_path / label / FILE).write_text(label)
    rows = [row.cells for row in elman.text.open_table(tmp_path)]
    assert rows == [(label, label, rf"{label}/caf\udce9.tsv") for label in ("place", "time")]


def test_a_parquet_file_of_such_a_name_is_read(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"text": ["a"], "label": ["b"]}), tmp_path / "a.parquet")
    path = (tmp_path / "a.parquet").rename(tmp_path / os.fsdecode(b"\xe9.parquet"))
    assert [row.cells for row in elman.text.open_table(path)] == [("a", "b")]


@pytest.mark.parametrize("name", ["a\0b", "a\ud800"])
def test_a_name_that_no_file_can_have_is_one_sentence(name):
    rows = [("a b", "x"), ("c d", "y")]
    uses = (
        lambda: elman.load(name),
        lambda: elman.train(name),
        lambda: elman.train({"task": "lm", "data": {"train": "x"}}, name),
        lambda: elman.Classifier.train(name),
        lambda: elman.LanguageModel.train(name),
        lambda: elman.Classifier.train(rows, vectors=name),
    )
    for use in uses:
        with pytest.raises(elman.errors.ElmanError, match=r"no (file|folder) can have this name"):
            use()
