"""What a notebook shows of a run."""

import sys
from types import SimpleNamespace

import pytest

from elman.training.display import make_display
from elman.training.events import Evaluation, TrainingEnd, Update
from elman.training.notebook_display import SHOWN, NotebookDisplay, find_notebook_output


def update(number: int, progress: float) -> Update:
    return Update(number, 1, progress, 0.5, 0.1, 1.0, 30.0)


def test_a_bar_shows_how_far_a_run_is_and_leaves_only_its_evaluations():
    seen = []
    display = NotebookDisplay("tokens", seen.append)
    display.show(update(1, 0.25))
    assert '<progress max="1" value="0.250">' in seen[-1]["text/html"]
    assert "loss 0.5" in seen[-1]["text/html"]
    display.show(Evaluation(1, {"a": 1.5}, "a", True))
    display.show(TrainingEnd(1, "epochs", {"a": 1.5}))
    display.close()
    assert seen[-1]["text/plain"] == "update 1  a 1.50  (best)\nall epochs done after update 1; best: a 1.50"
    assert "progress" not in seen[-1]["text/html"]


def test_the_bar_is_not_drawn_at_every_update():
    seen = []
    display = NotebookDisplay("tokens", seen.append)
    for number in range(100):
        display.show(update(number, number / 100))
    assert len(seen) < 10


def test_of_many_evaluations_the_last_ones_are_shown():
    seen = []
    display = NotebookDisplay("tokens", seen.append)
    for number in range(SHOWN + 5):
        display.say(f"<{number}>")
    assert seen[-1]["text/plain"].splitlines()[:2] == ["… 5 lines before", "<5>"]
    assert "&lt;5&gt;" in seen[-1]["text/html"]


def test_a_notebook_is_known_by_the_kernel_of_its_shell(monkeypatch: pytest.MonkeyPatch):
    contents = []

    def show(content: dict[str, str], *, raw: bool, display_id: bool = True) -> SimpleNamespace:
        assert raw  # else the dictionary itself is shown
        assert display_id  # else there is nothing to replace
        contents.append(content)
        return SimpleNamespace(update=show)

    shells = SimpleNamespace(
        get_ipython=lambda: SimpleNamespace(kernel=1), display=SimpleNamespace(display=show)
    )
    monkeypatch.setitem(sys.modules, "IPython", shells)
    display = make_display("tokens")
    assert isinstance(display, NotebookDisplay)
    display.say("hello")
    assert contents[-1]["text/plain"] == "hello"
    shells.get_ipython = lambda: None  # IPython is loaded, but no notebook runs
    assert find_notebook_output() is None
    monkeypatch.delitem(sys.modules, "IPython")
    assert find_notebook_output() is None
