"""What a search for settings may write over, and what is refused."""

from pathlib import Path

import pytest

from elman.errors import ConfigError
from elman.folders.search_folder import claim_for_search


def test_of_the_files_of_others_those_that_a_search_replaces_are_named(tmp_path: Path) -> None:
    for name in ("notes.txt", "recipe.toml"):
        (tmp_path / name).write_text("mine")
    said = r"holds files of others \('notes.txt', 'recipe.toml'\): .*, which replaces 'recipe.toml'$"
    with pytest.raises(ConfigError, match=said), claim_for_search(tmp_path, resume=False, overwrite=False):
        pass
    (tmp_path / "recipe.toml").unlink()
    with (
        pytest.raises(ConfigError, match=r"\(in Python overwrite=True\)$"),
        claim_for_search(tmp_path, resume=False, overwrite=False),
    ):
        pass


def test_the_lock_of_a_journal_that_a_killed_search_left_is_in_nobodys_way(tmp_path: Path) -> None:
    for name in ("search.json", "study.jsonl", "study.jsonl.lock"):
        (tmp_path / name).write_text("{}")
    with claim_for_search(tmp_path, resume=True, overwrite=False) as folder:
        assert {path.name for path in folder.iterdir()} >= {"search.json", "study.jsonl"}
        assert not (folder / "study.jsonl.lock").exists()
