"""The demo as a person meets it, on data so small that training takes no time."""

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import elman.demo
from elman.cli.demo import _prompt
from elman.errors import DataError
from tests.cli.lm_folder import call
from tests.demo.test_demos import ALL

QUICKLY = """
import sys
import elman.demo
from tests.demo.test_demos import ALL
elman.demo.prepare_demo = lambda task, minutes: ALL[task]
from elman.cli import main
sys.argv = ["elman", *sys.argv[1:]]
main()
"""


@pytest.fixture
def quickly(monkeypatch, tmp_path):
    """Every demo with a little data, in an empty folder."""
    monkeypatch.setattr(elman.demo, "prepare_demo", lambda task, minutes: ALL[task])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_a_terminal_it_ends_by_itself(quickly: Path, monkeypatch, capsys):
    done = call(monkeypatch, capsys, "demo", "classifier", stdin="never read\n")
    assert done.code == 0, done.err
    assert "naive Bayes" in done.out
    assert "elman predict models/demo-classifier" in done.out
    assert "Now you" not in done.out
    assert "update" in done.err
    assert (quickly / "models" / "demo-classifier" / "model.safetensors").exists()


@pytest.mark.parametrize("drawn", [True, False])
def test_pictures_are_drawn_where_they_can_be(drawn: bool, quickly: Path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    if not drawn:
        monkeypatch.setattr("elman.cli.demo.find_spec", lambda name: None)
    done = call(monkeypatch, capsys, "demo", "seq2seq")
    assert done.code == 0, done.err
    picture = Path("models/demo-seq2seq/attention.png")
    assert picture.exists() is drawn
    assert (f"plot: {picture}\n" in done.out) is drawn


@pytest.mark.parametrize("verb", ["predict", "evaluate"])
def test_other_verbs_take_the_folder(verb: str, quickly: Path, monkeypatch, capsys):
    assert call(monkeypatch, capsys, "demo", "tagger", "--out", "m").code == 0
    more = ["m/data/test.conll"] if verb == "evaluate" else []
    done = call(monkeypatch, capsys, verb, "m", *more, stdin="return the name\n")
    assert done.code == 0, done.err
    assert done.out


def test_missing_data_is_one_line(quickly: Path, monkeypatch, capsys):
    def missing(task: str, minutes: float) -> None:
        raise DataError("there is nothing to learn from")

    monkeypatch.setattr(elman.demo, "prepare_demo", missing)
    done = call(monkeypatch, capsys, "demo", "lm")
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines()[-1] == "elman: there is nothing to learn from"


class Spoken:
    """A demonstration that answers, and one that completes what is typed."""

    ask = "say something"

    def answer(self, model, text):
        return f"{model} of {text}"


@pytest.mark.parametrize("end", [EOFError, KeyboardInterrupt])
def test_each_line_that_is_typed_is_answered_until_it_is_left(end, monkeypatch, capsys):
    lines = iter([" one ", "", "two", end()])

    def read(prompt):
        assert prompt == "> "
        if isinstance(line := next(lines), BaseException):
            raise line
        return line

    monkeypatch.setattr("builtins.input", read)
    _prompt(Spoken(), "model")
    said = "\nNow you: say something (Ctrl-D ends).\n  model of one\n  model of two\n\n"
    assert capsys.readouterr().out == said


def test_a_language_model_completes_at_each_key(monkeypatch, capsys):
    from elman.demo.docstring_lm import DocstringDemo

    demo, asked = object.__new__(DocstringDemo), []
    monkeypatch.setattr(DocstringDemo, "ask", "write", raising=False)
    monkeypatch.setattr(
        DocstringDemo, "continue_text", lambda self, model, line: f"{line}, and on", raising=False
    )
    monkeypatch.setattr(
        "elman.cli.live_completion.complete_live", lambda find, enter: asked.append((find, enter))
    )
    model = SimpleNamespace(complete=len)
    _prompt(demo, model)
    ((find, enter),) = asked
    assert find is model.complete
    enter("so")
    assert capsys.readouterr().out == "\nNow you: write (Ctrl-D ends).\nso, and on\n"


@pytest.mark.parametrize("key", [b"\x04", b"\x03"], ids=["Ctrl-D", "Ctrl-C"])
def test_on_a_terminal_it_answers_until_it_is_left(key: bytes, tmp_path: Path):
    keyboard, screen = pty.openpty()
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path.cwd())}
    program = subprocess.Popen(
        [sys.executable, "-c", QUICKLY, "demo", "classifier"],
        cwd=tmp_path,
        env=environment,
        stdin=screen,
        stdout=screen,
        stderr=screen,
        start_new_session=True,
        preexec_fn=_take_terminal,
    )
    os.close(screen)
    seen = _until(keyboard, b"\n> ")
    os.write(keyboard, b"whether to stop\n")
    seen += _until(keyboard, b"\n> ")
    time.sleep(1)  # a signal between the prompt and the reading would wait for the next key
    os.write(keyboard, key)
    seen += _until(keyboard, b"")
    assert program.wait(60) == 0
    assert b"Now you" in seen
    assert seen.count(b"bool ") > 0
    assert b"Traceback" not in seen


def _take_terminal() -> None:
    """The terminal sends Ctrl-C to its own session only."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _until(keyboard: int, end: bytes) -> bytes:
    """What appears up to some text, or to the end of the program; a minute of silence is an error."""
    seen = b""
    while not (end and seen.endswith(end)):
        ready, _, _ = select.select([keyboard], [], [], 60)
        assert ready, seen
        try:
            seen += os.read(keyboard, 1)
        except OSError:  # nobody is there any more
            break
    return seen
