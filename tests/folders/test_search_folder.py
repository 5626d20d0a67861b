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
