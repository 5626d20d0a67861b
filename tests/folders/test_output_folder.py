"""What may be written into, and what is refused with a word on what to do."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from elman.errors import ConfigError
from elman.folders.folder_contents import find_run, has_progress, has_run
from elman.folders.folder_lock import FolderInUseError, lock_folder
from elman.folders.output_folder import check_may_begin, check_may_train, claim_for_saving, parse_folder

MODEL = {"config.json": '{"elman": 2}', "vocab.json": "v", "checkpoint.safetensors": "c"}
BEGUN = {"run.json": '{"sessions": []}', "vocab.json": "v", "metrics.jsonl": "", "run.json.tmp": "half"}


def checkpoint(updates: int) -> str:
    """The header of a checkpoint, which says how far its run was."""
    state = json.dumps({"progress": {"update": updates}})
    header = json.dumps({"__metadata__": {"state": state}})
    return len(header).to_bytes(8, "little").decode() + header


def fill(folder: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (MODEL, "holds a model: give another folder, or replace it by --overwrite"),
        ({"checkpoint.safetensors": checkpoint(7)}, "was interrupted: go on with it by --resume.*--overwrite"),
        ({"checkpoint.safetensors": "no checkpoint of ours"}, "--resume"),
        ({"notes.txt": "mine"}, r"files of others \('notes.txt'\): give a new folder, or --overwrite \(.*\)$"),
        ({"README.md": "mine"}, r"files of others \('README.md'\).*, which replaces 'README.md'$"),
        ({"config.json": "[]"}, "which replaces 'config.json'$"),
        (BEGUN | {"README.md": "mine"}, "which replaces 'README.md'$"),
        ({"vocab.json": "mine"}, "which replaces 'vocab.json'$"),
        ({".gitignore": "mine"}, "files of others"),
        ({"other/config.json": "{}"}, "files of others"),
        ({"seeds.json": "mine"}, "files of others"),
    ],
)
def test_a_folder_that_holds_something_is_refused_unless_it_may_be_overwritten(tmp_path, files, said):
    fill(tmp_path, files)
    with pytest.raises(ConfigError, match=said) as caught:
        check_may_train(tmp_path, overwrite=False)
    assert str(caught.value).startswith(str(tmp_path))
    check_may_train(tmp_path, overwrite=True)


@pytest.mark.parametrize(
    "files",
    [
        {},
        BEGUN,
        BEGUN | {"checkpoint.safetensors": checkpoint(0)},
        {".lock": "process 1 on a host", ".new/vocab.json": "half"},
        {"curve/10-seed-0/config.json": '{"elman": 2}', "curve.json": "{}"},
        {"seed-0/config.json": '{"elman": 2}', "seeds.json": "{}"},
    ],
    ids=["empty", "begun", "no update", "killed", "curve", "seeds"],
)
def test_what_a_run_without_an_update_left_and_the_folders_of_a_series_are_in_nobodys_way(tmp_path, files):
    check_may_train(fill(tmp_path, files), overwrite=False)


def test_where_a_run_can_be_resumed(tmp_path):
    assert (has_run(tmp_path), has_progress(tmp_path), find_run(tmp_path)) == (False, False, None)
    fill(tmp_path, {"checkpoint.safetensors": checkpoint(7)})
    assert (has_run(tmp_path), has_progress(tmp_path), find_run(tmp_path)) == (True, True, tmp_path)
    fill(tmp_path, {".run/checkpoint.safetensors": checkpoint(0)})
    assert (find_run(tmp_path), has_progress(tmp_path / ".run")) == (tmp_path / ".run", False)


def test_a_run_that_was_to_replace_a_model_is_given_up_by_hand_only(tmp_path):
    fill(tmp_path, MODEL | {".run/checkpoint.safetensors": checkpoint(7)})
    with pytest.raises(ConfigError, match=rf"{tmp_path}/.run holds a run that was interrupted: .*--resume"):
        check_may_train(tmp_path, overwrite=True)
    fill(tmp_path, {".run/checkpoint.safetensors": checkpoint(0)})
    check_may_train(tmp_path, overwrite=True)


@pytest.mark.parametrize("files", [MODEL, BEGUN, {"notes.txt": "mine"}], ids=["model", "begun", "notes"])
def test_a_model_may_be_saved_in_place_of_one_or_beside_other_files(tmp_path, files):
    fill(tmp_path, files)
    with claim_for_saving(tmp_path, overwrite=False) as staging:
        (staging / "config.json").write_text("new")
    assert (tmp_path / "config.json").read_text() == "new"
    assert (tmp_path / "vocab.json").exists() is False
    assert (tmp_path / "notes.txt").exists() is ("notes.txt" in files)


@pytest.mark.parametrize("files", [{"README.md": "mine"}, {"checkpoint.safetensors": checkpoint(3)}])
def test_a_model_is_not_saved_over_files_of_others_or_a_run(tmp_path, files):
    fill(tmp_path, files)
    with pytest.raises(ConfigError, match="overwrite=True"), claim_for_saving(tmp_path, overwrite=False):
        pass
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == files


def test_an_empty_name_is_no_folder():
    assert parse_folder(".") == Path()
    with pytest.raises(ConfigError, match="empty"):
        parse_folder("")


def test_a_run_that_goes_on_is_not_called_interrupted(tmp_path):
    (tmp_path / "checkpoint.safetensors").write_text(checkpoint(7))
    with lock_folder(tmp_path), pytest.raises(FolderInUseError, match=f"process {os.getpid()} "):
        check_may_begin(tmp_path, overwrite=False)
    with pytest.raises(ConfigError, match="was interrupted"):
        check_may_begin(tmp_path, overwrite=False)
