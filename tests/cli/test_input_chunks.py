"""Input that is answered while it comes."""

import io
import subprocess
import sys

import pytest

from elman.cli.model_args import chunks
from tests.cli.pairs_folder import make


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_person_is_told_how_to_end_and_answered_line_by_line(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", Terminal())
    assert list(chunks("abc", "-", 2)) == [["a"], ["b"], ["c"]]
    assert capsys.readouterr() == ("", "type a line, then Enter; Ctrl-D ends\n")


@pytest.mark.parametrize(("file", "stdin"), [("-", io.StringIO()), ("a.txt", Terminal())])
def test_files_and_pipes_are_read_some_at_a_time_in_silence(file, stdin, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", stdin)
    assert list(chunks("abc", file, 2)) == [["a", "b"], ["c"]]
    assert capsys.readouterr() == ("", "")


def test_line_by_line_for_a_program_that_waits():
    assert list(chunks("abc", "-", 2, line_buffered=True)) == [["a"], ["b"], ["c"]]


def test_a_program_gets_its_answer_before_it_writes_the_next_line(tmp_path):
    make(tmp_path)
    command = [sys.executable, "-m", "elman", "translate", "m", "--line-buffered"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=tmp_path, **pipes) as running:
        answers = []
        for line in ("a b", "", "b"):
            running.stdin.write(line + "\n")
            running.stdin.flush()
            answers.append(running.stdout.readline())  # would wait for ever
        running.stdin.close()
        assert running.stdout.read() == ""
    whole = subprocess.run(
        command[:-1], cwd=tmp_path, input="a b\n\nb\n", capture_output=True, text=True, check=True
    )
    assert "".join(answers) == whole.stdout
