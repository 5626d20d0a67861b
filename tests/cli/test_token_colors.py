"""Tokens with numbers: a colour for each step, words on one line, numbers where nothing has colours."""

import sys

import pytest

from elman.cli.token_colors import show_tokens, surprisal_color, weight_color


def test_the_colour_of_a_surprise_changes_every_two_nats_and_stays_red():
    names = {0.0: "green", 1.99: "green", 2.0: "default", 4.0: "yellow", 5.99: "yellow", 6.0: "red"}
    names |= {7.99: "red", 8.0: "bold red", 1000.0: "bold red", -1e-9: "green"}
    assert {nats: surprisal_color(nats) for nats in names} == names


@pytest.mark.parametrize(
    ("share", "color"),
    [
        *((0.09, "dim"), (0.1, "default"), (0.29, "default"), (0.3, "yellow"), (0.49, "yellow")),
        *((0.5, "red"), (0.79, "red"), (0.8, "bold red"), (1.0, "bold red"), (3.0, "bold red")),
    ],
)
def test_the_colour_of_a_weight_is_its_share_of_the_strongest_and_blue_below_zero(share, color):
    shade = weight_color(4.0)
    assert shade(4.0 * share) == color
    assert shade(-4.0 * share) == color.replace("yellow", "cyan").replace("red", "blue")


def test_where_all_weights_are_zero_none_is_strong():
    assert (weight_color(0.0)(0.0), weight_color(0.0)(5.0)) == ("dim", "dim")


TOKENS = [("to", 0.125), ("be\n\t", -8.5)]


def test_off_a_terminal_tokens_stand_with_their_numbers(capsys):
    show_tokens(TOKENS, surprisal_color, blank=" ")
    show_tokens(TOKENS, surprisal_color, blank=" ", number=".1f")
    assert capsys.readouterr().out == "to 0.12\tbe⏎⇥ -8.50\nto 0.1\tbe⏎⇥ -8.5\n"


def pretend_terminal(monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_on_a_terminal_tokens_are_coloured_and_never_wrapped(capsys, monkeypatch):
    pretend_terminal(monkeypatch)
    show_tokens([("red", 9.0)] * 100, surprisal_color, blank="_")
    (line,) = capsys.readouterr().out.splitlines()
    assert line.count("\x1b[1;31mred\x1b[0m_") == 100


def test_nobody_gets_colours_who_wants_none(capsys, monkeypatch):
    pretend_terminal(monkeypatch)
    monkeypatch.setenv("NO_COLOR", "")
    show_tokens(TOKENS, surprisal_color, blank=" ")
    assert capsys.readouterr().out == "to 0.12\tbe⏎⇥ -8.50\n"
