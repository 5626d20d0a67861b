"""A disk that is too small is refused before the first update."""

from collections import namedtuple
from pathlib import Path

import pytest

from elman.errors import ConfigError
from elman.folders.disk_room import check_room, file_size
from elman.pipeline import run_recipe
from tests.pipeline.test_train_recipe import recipe

Usage = namedtuple("Usage", "total used free")


def test_two_checkpoints_must_fit_beside_the_one_that_is_there(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda path: Usage(0, 0, 1500))
    check_room(tmp_path, 750)
    check_room(tmp_path, 1000, existing=500)
    with pytest.raises(ConfigError) as refused:
        check_room(tmp_path, 1000)
    assert str(refused.value) == (
        f"{tmp_path}: 1.5 kB are free on its disk, but the run needs 2.0 kB (a checkpoint takes 1.0 kB, "
        "and two while one replaces the other); make room, or give another folder"
    )


def test_a_file_that_is_not_there_takes_no_room(tmp_path: Path):
    (tmp_path / "a").write_bytes(b"abc")
    assert (file_size(tmp_path / "a"), file_size(tmp_path / "b")) == (3, 0)


def test_a_run_is_refused_before_its_first_update(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda path: Usage(0, 0, 1500))
    with pytest.raises(ConfigError, match="kB are free on its disk, but the run needs"):
        run_recipe(recipe(tmp_path), tmp_path / "m")
    assert not (tmp_path / "m").exists()
