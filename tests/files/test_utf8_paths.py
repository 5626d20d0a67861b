"""A name that is not UTF-8 has a link that is, outside of anybody's folder, as long as it is used."""

import os
from pathlib import Path

import pytest

from elman.files.utf8_paths import utf8_path


@pytest.mark.parametrize("name", [b"plain", b"n\xe9\xff"])
def test_a_file_is_found_by_a_name_of_utf_8(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    path = Path(os.fsdecode(name))
    path.write_bytes(b"content")
    for _ in range(2):
        with utf8_path(path) as named:
            assert str(named).encode().decode() == str(named)
            assert named.read_bytes() == b"content"
        assert os.listdir(b".") == [name]
