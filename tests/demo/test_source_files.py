"""Which files of a package demos learn from, and who is held out."""

from collections import Counter
from pathlib import Path
from zlib import crc32

import pytest

from elman.demo import source_files as module
from elman.demo.source_files import package_folders, source_files, split_by_hash


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    names = ["a.py", "_private.py", "sub/b.py", "_inner/c.py", "_core/d.py", "_core/_e/f.py", "tests/g.py"]
    for name in [*names, "notes.txt", "site-packages/h.py"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(f"# {name} \xff".encode("latin-1"))
    monkeypatch.setattr(module, "package_folders", lambda package: [tmp_path])
    return tmp_path


def test_what_a_package_shows_is_read_in_order_and_its_inner_workings_where_they_are_wanted(package: Path):
    shown = ["_core/d.py", "_private.py", "a.py", "sub/b.py"]
    found = [*source_files(["x"])]
    assert [file.name for file in found] == [f"x/{name}" for name in shown]
    assert found[0].text == "# _core/d.py \N{REPLACEMENT CHARACTER}"
    every = {file.name for file in source_files([""], inner=True)}
    assert every == {f"python/{name}" for name in [*shown, "_inner/c.py", "_core/_e/f.py"]}


def test_packages_lie_where_they_are_found_without_being_imported():
    assert (package_folders("")[0] / "json" / "__init__.py").exists()
    assert (package_folders("numpy")[0] / "__init__.py").exists()
    assert package_folders("no_such_package") == []
    assert package_folders("this") == [], "a module has no folder"


def test_a_key_has_its_part_by_its_hash_alone():
    keys = [f"key {i}" for i in range(2000)]
    split = split_by_hash(keys)
    for part, place in ((split.test, 0), (split.valid, 1)):
        assert part == [key for key in keys if crc32(key.encode()) % 20 == place]
        assert 60 < len(part) < 140
    assert Counter([*split.train, *split.valid, *split.test]) == Counter(keys)
    assert len(split_by_hash(keys, share=4).test) > 400
