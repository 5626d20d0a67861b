"""elman complete as a person meets it, at a terminal too."""

import json
import os
import select
import subprocess
import sys
import time

import pytest

from elman.generation import complete
from tests.cli.lm_folder import call, store


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lm")
    return str(folder), store(folder)


@pytest.fixture
def elman(monkeypatch, capsys):
    return lambda *arguments, **options: call(monkeypatch, capsys, *arguments, **options)


def test_completions_are_ranked_with_probabilities(elman, model):
    folder, lm = model
    done = elman("complete", folder, "Once up", "-k", "3")
    found = complete(lm, "Once up", 3)
    assert done == (0, "".join(f"{one.text}\t{one.probability:.4f}\n" for one in found), "")
    assert elman("complete", folder, "Once upo").out == "upon\t1.0000\n"


def test_without_a_text_each_line_of_the_input_is_completed(elman, model):
    done = elman("complete", model[0], "-k", "1", stdin="Once upo\nxyz\na ti\n")
    first, second, third = done.out.splitlines()
    assert first == "upon 1.0000"
    assert second == ""
    assert third.startswith("ti")


def test_json_has_the_rest_of_each_word(elman, model):
    answer = json.loads(elman("complete", model[0], "Once upo", "--json").out)
    assert answer["text"] == "Once upo"
    [only] = answer["completions"]
    assert (only["text"], only["rest"]) == ("upon", "n")


class Terminal:
    """A process at a pseudo-terminal."""

    def __init__(self, *arguments: str) -> None:
        import fcntl
        import struct
        import termios

        self.ours, self.theirs = os.openpty()
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.before = termios.tcgetattr(self.theirs)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "elman", *arguments],
            stdin=self.theirs,
            stdout=self.theirs,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.shown = ""

    def press(self, keys: str) -> None:
        os.write(self.ours, keys.encode())

    def wait_for(self, text: str) -> None:
        """Until the terminal shows it after what was shown before."""
        seen, deadline = "", time.monotonic() + 60
        while text not in seen:
            assert time.monotonic() < deadline, f"{text!r} is not in {seen!r}"
            if select.select([self.ours], [], [], 0.2)[0]:
                seen += os.read(self.ours, 4096).decode()
        self.shown += seen


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_words_are_completed_while_they_are_typed(model):
    import termios

    terminal = Terminal("complete", model[0], "-k", "3")
    terminal.wait_for("%")
    terminal.press("Once uppx")
    terminal.wait_for("Once uppx")
    terminal.press("\x7f")
    terminal.wait_for("upper 100 %")
    terminal.press("\t")
    terminal.wait_for("Once upper ")
    terminal.press("\n")
    terminal.wait_for("Once upper \r\n")
    terminal.press("é\x1b[A\x04")
    assert terminal.process.wait(60) == 0
    assert terminal.process.stderr.read() == b""
    assert termios.tcgetattr(terminal.theirs) == terminal.before


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_an_interrupt_leaves_the_terminal_as_it_was(model):
    import signal
    import termios

    terminal = Terminal("complete", model[0])
    terminal.wait_for("%")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.process.wait(60) == 0
    assert termios.tcgetattr(terminal.theirs) == terminal.before
