from __future__ import annotations

from pathlib import Path

import pytest

from elman.errors import ConfigError, DataError
from elman.text.files import read_parallel


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_line_i_meets_line_i(tmp_path: Path) -> None:
    files = [written(tmp_path, "a", "1\n\n3\n"), written(tmp_path, "b", "x\r\ny\r\nz")]
    assert list(read_parallel(files)) == [(1, ("1", "x")), (2, ("", "y")), (3, ("3", "z"))]


@pytest.mark.parametrize(("left", "right"), [(2, 5), (5, 2), (1, 2)])
def test_different_line_counts_name_both_files_and_counts(tmp_path: Path, left: int, right: int) -> None:
    a, b = written(tmp_path, "a.en", "x\n" * left), written(tmp_path, "b.de", "y\n" * right)
    with pytest.raises(DataError, match=f"a.en has {left} lines, .*b.de has {right} lines"):
        list(read_parallel([a, b]))


def test_the_counts_of_three_files_are_all_said(tmp_path: Path) -> None:
    files = [written(tmp_path, f"f{n}", "x\n" * n) for n in (3, 1, 2)]
    with pytest.raises(DataError, match=r"f3 has 3 lines, .*f1 has 1 lines, .*f2 has 2 lines"):
        list(read_parallel(files))


def test_standard_input_is_one_file_at_most() -> None:
    with pytest.raises(ConfigError, match="standard input"):
        list(read_parallel(["-", "-"]))
