"""Where results go: a file whole or not at all, compressed as its ending says, never over what is read."""

import bz2
import gzip
import io
import lzma
import sys

import pytest

from elman.cli.output_file import check_output, open_output
from elman.errors import ConfigError

UNPACK = {".txt": lambda data: data, ".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}


@pytest.mark.parametrize("ending", [*UNPACK, ".GZ"])
def test_the_ending_says_how_a_file_is_compressed(ending, tmp_path):
    path = tmp_path / f"out{ending}"
    for _ in range(2):  # an older file is replaced
        with open_output(path, "-") as stream:
            stream.write(b"answers\n" * 3)
        assert UNPACK[ending.lower()](path.read_bytes()) == b"answers\n" * 3


def test_zstandard_too(tmp_path):
    zstandard = pytest.importorskip("zstandard")
    with open_output(tmp_path / "out.zst", "-") as stream:
        stream.write(b"answers\n")
    with zstandard.open(tmp_path / "out.zst", "rb") as file:
        assert file.read() == b"answers\n"


def test_the_same_answers_are_the_same_bytes(tmp_path):
    for name in ("one.gz", "other.gz"):
        with open_output(tmp_path / name, "-") as stream:
            stream.write(b"answers\n")
    data = (tmp_path / "one.gz").read_bytes()
    assert data == (tmp_path / "other.gz").read_bytes()
    assert (data[3], data[4:8]) == (0, bytes(4))  # neither a name nor a time (RFC 1952)


def test_a_failure_leaves_the_older_file_and_nothing_beside_it(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("older")
    with pytest.raises(TypeError), open_output(path, "-") as stream:
        stream.writelines([b"half", "no bytes"])
    assert [each.read_text() for each in tmp_path.iterdir()] == ["older"]


def test_without_a_file_answers_go_to_standard_output(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BufferedWriter(raw)))
    with open_output(None, "-") as stream:
        stream.write(b"answer")
    assert raw.getvalue() == b"answer"


def test_a_folder_that_is_missing_and_the_file_that_is_read_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "in.txt"
    source.write_text("line\n")
    (tmp_path / "link.txt").symlink_to(source)
    for out in ("in.txt", "link.txt"):
        for sources in ([str(source)], ["other", str(source)]):
            with pytest.raises(ConfigError, match=rf"^--errors {out} is the file that is read: give it"):
                check_output("--errors", tmp_path.__class__(out), *sources)
    with pytest.raises(ConfigError, match=r"^--out no/out\.txt: there is no folder no$"):
        check_output("--out", tmp_path.__class__("no/out.txt"))
    check_output("--out", tmp_path / "new.txt", str(source))
    check_output("--out", source, "-", "no/such/file")
    with pytest.raises(ConfigError, match="is the file that is read"), open_output(source, str(source)):
        pass
    assert source.read_text() == "line\n"
