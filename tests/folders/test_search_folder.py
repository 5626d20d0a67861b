"""What a search for settings may write over, and what is refused."""

from pathlib import Path

import pytest

from elman.errors import ConfigError
from elman.folders.search_folder import claim_for_search
from tests.folders.test_output_folder import MODEL, checkpoint, fill
from tests.folders.test_run_folder import listing

FOUND = {"recipe.toml": "best", "model/config.json": "best"}
BEGUN = {"search.json": "{}", "study.jsonl": "", "study.jsonl.lock": "", "trials/0/metrics.jsonl": ""}
SHOWN = {"trials.csv": "", "tune.png": "", "model.log": ""}


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


def test_a_search_is_replaced_only_when_told_to_and_what_it_found_stays_until_there_is_better(
    tmp_path: Path,
) -> None:
    fill(tmp_path, FOUND | BEGUN | SHOWN)
    said = rf"^{tmp_path} holds a search: go on with it by --resume, or replace it by --overwrite"
    with pytest.raises(ConfigError, match=said), claim_for_search(tmp_path, resume=False, overwrite=False):
        pass
    assert listing(tmp_path) == FOUND | BEGUN | SHOWN
    with claim_for_search(tmp_path, resume=True, overwrite=False):
        pass
    assert (
        listing(tmp_path)
        == FOUND | {"search.json": "{}", "study.jsonl": "", "trials/0/metrics.jsonl": ""} | SHOWN
    )
    with claim_for_search(tmp_path, resume=False, overwrite=True) as folder:
        assert folder == tmp_path
    assert listing(tmp_path) == FOUND
    assert {path.name for path in tmp_path.iterdir()} == {"recipe.toml", "model"}


def test_there_must_be_a_search_to_go_on_with(tmp_path: Path) -> None:
    said = "holds no search to resume: leave out --resume, or give its folder$"
    with pytest.raises(ConfigError, match=said), claim_for_search(tmp_path / "a", resume=True, overwrite=False):
        pass
    with claim_for_search(tmp_path / "a", resume=False, overwrite=False) as folder:
        assert folder.is_dir()


@pytest.mark.parametrize(
    ("files", "what"),
    [(MODEL, "a model"), ({"checkpoint.safetensors": checkpoint(3)}, "a run that was interrupted")],
)
def test_a_model_or_a_run_is_never_searched_over(tmp_path: Path, files: dict[str, str], what: str) -> None:
    fill(tmp_path, files)
    said = f"^{tmp_path} holds {what}: give another folder$"
    with pytest.raises(ConfigError, match=said), claim_for_search(tmp_path, resume=False, overwrite=True):
        pass
    assert listing(tmp_path) == files
