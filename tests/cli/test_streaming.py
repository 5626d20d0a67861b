"""Input that is answered while it comes."""

import io
import sys

import pytest

from elman.cli.streaming import chunks


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_person_is_told_how_to_end_and_answered_line_by_line(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", Terminal())
    assert list(chunks("abc", "-", 2)) == [["a"], ["b"], ["c"]]
    assert capsys.readouterr() == ("", "type a line and Enter; Ctrl-D ends\n")


@pytest.mark.parametrize(("file", "stdin"), [("-", io.StringIO()), ("a.txt", Terminal())])
def test_files_and_pipes_are_read_some_at_a_time_in_silence(file, stdin, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", stdin)
    assert list(chunks("abc", file, 2)) == [["a", "b"], ["c"]]
    assert capsys.readouterr() == ("", "")
