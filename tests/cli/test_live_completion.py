"""Keys on a terminal and what they do to a line; what is drawn below it."""

import os
import re

import pytest

from elman.cli import live_completion
from elman.cli.live_completion import _apply_key, _read_keys, complete_live
from elman.generation import Completion


def completion(text, rest, probability=0.5):
    return Completion(
        **dict.fromkeys(Completion._fields, 0.0) | {"text": text, "rest": rest, "probability": probability}
    )


UPON = [completion("upon", "on"), completion("upper", "per", 0.25)]


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("x", "Once upx"),
        ("é", "Once upé"),
        (" ", "Once up "),
        ("\x7f", "Once u"),
        ("\b", "Once u"),
        ("\t", "Once upon "),
        ("\x1b[C", "Once upon "),
        ("\x15", ""),
        ("\n", ""),
        ("\r", ""),
        ("\x1b[A", "Once up"),
        ("\x1b", "Once up"),
        ("\x00", "Once up"),
    ],
)
def test_a_key_changes_the_line(key, line):
    assert _apply_key("Once up", key, UPON) == line


def test_without_completions_nothing_is_taken_and_nothing_before_the_beginning_is_erased():
    assert _apply_key("xyz", "\t", []) == "xyz"
    assert _apply_key("", "\x7f", UPON) == ""


def test_keys_are_read_one_by_one_though_they_come_in_pieces(monkeypatch):
    pieces = ["aé".encode()[:2], "aé".encode()[2:], b"\x1b[A\x1b[3~b\tc\x1bOx", b"\xff\n", b""]
    monkeypatch.setattr(os, "read", lambda fd, most: pieces.pop(0))
    assert [*_read_keys(0)] == ["a", "é", "\x1b[A", "\x1b[3~", "b", "\t", "c", "\x1bO", "x", "\ufffd", "\n"]


class Screen:
    """A terminal so many columns wide, to which these keys come."""

    def __init__(self, monkeypatch, keys, columns=80):
        self.written: list[str] = []
        self.entered: list[str] = []
        self.asked: list[str] = []
        from contextlib import contextmanager

        @contextmanager
        def typed():
            yield iter(keys)

        monkeypatch.setattr(live_completion, "_keys", typed)
        monkeypatch.setattr(live_completion, "_write", self.written.append)
        monkeypatch.setattr(live_completion.sys.stdout, "fileno", lambda: 1)
        monkeypatch.setattr(os, "get_terminal_size", lambda fd: os.terminal_size((columns, 24)))
        monkeypatch.delenv("NO_COLOR", raising=False)

    def run(self, found):
        def find(line):
            self.asked.append(line)
            return found

        complete_live(find, self.entered.append)
        return self.written


def test_every_line_is_entered_and_control_d_ends_it(monkeypatch):
    screen = Screen(monkeypatch, ["a", "\n", "b", "\r", "c", "\x04", "d"])
    screen.run(UPON)
    assert screen.entered == ["a", "b"]
    assert screen.asked == ["", "a", "", "b", "", "c"]
    assert "\r\x1b[Ja\n" in screen.written
    again = Screen(monkeypatch, ["a"])
    again.run(UPON)
    assert (again.entered, again.asked) == ([], ["", "a"])


def test_the_rest_of_the_best_stands_behind_the_line_and_all_below(monkeypatch):
    first, second = Screen(monkeypatch, ["x"]).run(UPON)
    below = "upon 50 %  upper 25 %"
    assert first == f"\r\x1b[J\x1b[2mon\x1b[0m\n{below}\x1b[1A\r"
    assert second == f"\r\x1b[Jx\x1b[2mon\x1b[0m\n{below}\x1b[1A\r\x1b[1C"
    assert Screen(monkeypatch, []).run([]) == ["\r\x1b[J\n\x1b[1A\r"]
    screen = Screen(monkeypatch, [])
    monkeypatch.setenv("NO_COLOR", "1")
    assert screen.run(UPON) == [f"\r\x1b[J\n{below}\x1b[1A\r"]


@pytest.mark.parametrize("columns", [1, 21, 30])
def test_nothing_is_wider_than_the_terminal(columns, monkeypatch):
    long = [completion("w" * 50, "w" * 50)]
    drawn = Screen(monkeypatch, "abcdefghijklmnopqrstuvwxyz" * 2, columns).run(long)[-1]
    plain = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", drawn).strip("\r")
    line, below = plain.split("\n")
    seen = max(1, columns - 20)
    assert line.startswith(("abcdefghijklmnopqrstuvwxyz" * 2)[-seen:])
    assert len(line) == max(seen, columns - 1)
    assert len(below.strip("\r")) == columns - 1
    assert drawn.endswith(f"\r\x1b[{seen}C")
