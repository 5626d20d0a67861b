"""Where a run keeps its files: in its folder, or beside what that holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from elman.folders.run_folder import claim_for_training, give_up_run
from tests.folders.test_output_folder import BEGUN, MODEL, checkpoint, fill


def listing(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}


def test_a_run_in_a_new_folder_works_there(tmp_path):
    with claim_for_training(tmp_path / "m", resume=False, overwrite=False) as folder:
        assert folder.out == folder.work == tmp_path / "m"


@pytest.mark.parametrize("files", [MODEL, {"README.md": "mine"}, {"checkpoint.safetensors": checkpoint(5)}])
def test_a_run_over_something_keeps_its_files_beside_and_brings_them_with_its_model(tmp_path, files):
    fill(tmp_path, files)
    with claim_for_training(tmp_path, resume=False, overwrite=True) as folder:
        fill(folder.work, {"checkpoint.safetensors": checkpoint(9), "metrics.jsonl": "log", "vocab.json": "v"})
        assert {n: c for n, c in listing(tmp_path).items() if n in files} == files
        with folder.stage_model() as staging:
            fill(staging, {"config.json": '{"elman": 2}', "README.md": "card"})
    assert listing(tmp_path) == {
        "config.json": '{"elman": 2}',
        "README.md": "card",
        "checkpoint.safetensors": checkpoint(9),
        "metrics.jsonl": "log",
    }


def test_an_interrupted_run_is_resumed_where_it_is(tmp_path):
    fill(tmp_path, MODEL)
    with claim_for_training(tmp_path, resume=False, overwrite=True) as folder:
        fill(folder.work, {"checkpoint.safetensors": checkpoint(9)})
    with claim_for_training(tmp_path, resume=True, overwrite=False) as again:
        assert again == folder
        assert (again.work / "checkpoint.safetensors").read_text() == checkpoint(9)


def test_a_finished_run_is_resumed_in_a_copy_which_goes_away_if_nothing_comes_of_it(tmp_path):
    files = MODEL | {"checkpoint.safetensors": checkpoint(9), "metrics.jsonl": "log"}
    fill(tmp_path, files)
    with claim_for_training(tmp_path, resume=True, overwrite=False) as folder:
        assert folder.work == tmp_path / ".run"
        copied = {"checkpoint.safetensors", "metrics.jsonl", "vocab.json"}
        assert listing(folder.work) == {name: files[name] for name in copied}
        (folder.work / "metrics.jsonl").write_text("more")
    assert listing(tmp_path) == files


def test_the_folders_of_a_run_are_copied_and_replaced_with_its_files(tmp_path):
    fill(tmp_path, MODEL | {"checkpoint.safetensors": checkpoint(9), "tensorboard/events": "old"})
    with claim_for_training(tmp_path, resume=True, overwrite=False) as folder:
        events = folder.work / "tensorboard" / "events"
        assert events.read_text() == "old"
        events.write_text("new")
        assert listing(tmp_path)["tensorboard/events"] == "old"
        with folder.stage_model() as staging:
            fill(staging, {"config.json": '{"elman": 2}'})
    assert listing(tmp_path)["tensorboard/events"] == "new"


def test_a_finished_run_that_went_on_ends_in_its_place(tmp_path):
    fill(tmp_path, MODEL | {"checkpoint.safetensors": checkpoint(9)})
    with claim_for_training(tmp_path, resume=True, overwrite=False) as folder, folder.stage_model() as staging:
        fill(staging, {"config.json": '{"elman": 2, "new": 1}'})
    left = {"config.json": '{"elman": 2, "new": 1}', "checkpoint.safetensors": checkpoint(9)}
    assert listing(tmp_path) == left


def test_what_an_earlier_run_left_half_written_goes_away(tmp_path):
    with claim_for_training(fill(tmp_path, BEGUN), resume=False, overwrite=False) as folder:
        assert folder.work == tmp_path
        assert not (tmp_path / "run.json.tmp").exists()


def test_a_run_that_is_given_up_leaves_the_model(tmp_path):
    fill(tmp_path, MODEL | {".run/checkpoint.safetensors": checkpoint(9)})
    give_up_run(tmp_path)
    assert listing(tmp_path) == MODEL
    fill(tmp_path / "new", BEGUN | {"checkpoint.safetensors": checkpoint(9), "data/a.tsv": "data"})
    give_up_run(tmp_path / "new")
    assert listing(tmp_path / "new") == {"data/a.tsv": "data", "run.json.tmp": "half"}
