"""What data was: digests that others can compute, sizes and rows."""

import gzip
import hashlib
import os
import subprocess
import threading

import pytest

from elman.text.byte_source import hold_pipe
from elman.text.data_digest import describe_source
from elman.text.tables.in_memory import InMemory


def test_a_file_has_the_digest_that_sha256sum_prints(tmp_path):
    file = tmp_path / "a.txt"
    file.write_bytes(b"one\ntwo\n" * 300_000 + b"three")
    found = describe_source(str(file), "a.txt", None)
    printed = subprocess.run(["sha256sum", file], capture_output=True, text=True, check=True).stdout
    assert found == {"file": "a.txt", "sha256": printed.split()[0], "bytes": 2_400_005, "lines": 600_001}


def test_rows_of_a_table_are_what_its_reader_counted(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text('text,label\n"two\nlines",x\n')
    assert describe_source(str(file), "a.csv", 1)["rows"] == 1
    assert "lines" not in describe_source(str(file), "a.csv", 1)


def test_packed_text_has_the_digest_of_the_file_and_the_lines_of_the_text(tmp_path):
    file = tmp_path / "a.txt.gz"
    file.write_bytes(gzip.compress(b"one\ntwo\n"))
    found = describe_source(str(file), "a", None)
    assert found["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert (found["bytes"], found["lines"]) == (len(file.read_bytes()), 2)


def test_a_folder_changes_its_digest_with_any_name_or_content(tmp_path):
    (tmp_path / "f" / "x").mkdir(parents=True)
    file = tmp_path / "f" / "x" / "1.txt"
    file.write_text("a text")
    seen = {describe_source(str(tmp_path / "f"), "f", 1)["sha256"]}
    file.write_text("a test")
    seen.add(describe_source(str(tmp_path / "f"), "f", 1)["sha256"])
    file.rename(file.with_name("2.txt"))
    seen.add(describe_source(str(tmp_path / "f"), "f", 1)["sha256"])
    assert len(seen) == 3


def test_rows_in_memory_have_one_digest_for_the_same_values():
    rows = [("ein Wörtchen", "x"), {"text": "two\ud800", "label": 3}]
    one, two = (describe_source(InMemory.hold(list(rows)), "", None) for _ in range(2))
    other = describe_source(InMemory.hold([*rows, ("more", "y")]), "", None)
    assert one == two
    assert (one["file"], one["rows"]) == ("examples in memory", 2)
    assert one["sha256"] != other["sha256"]


def test_what_came_out_of_a_pipe_has_the_digest_of_the_same_file(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"one\ntwo")
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(b"one\ntwo",))
    writer.start()
    held = hold_pipe(str(tmp_path / "pipe"))
    writer.join()
    assert describe_source(held, "a", None) == describe_source(str(tmp_path / "a.txt"), "a", None)


@pytest.mark.parametrize("source", ["-", "/dev/null"])
def test_what_can_be_read_only_once_is_not_read_again(source):
    assert describe_source(source, source, 7) == {"file": source, "rows": 7}
