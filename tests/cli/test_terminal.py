"""What a person sees: tables that are drawn or aligned, options that name their folder."""

import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from elman.cli.number_list import NumberList
from elman.cli.terminal import FOLDER, PICTURE, device_option, option, print_table, say, typed_command
from elman.errors import ConfigError
from elman.ranges import PositiveInt

ROWS = [["lstm", "7"], ["elman-long", "12,345"]]


def test_off_a_terminal_names_stand_left_numbers_right_and_nothing_behind(capsys):
    print_table(["cell", "n"], ROWS)
    assert capsys.readouterr().out == "cell             n\nlstm             7\nelman-long  12,345\n"
    print_table(["n", "said"], [["7", "a"], ["12", "bcdefg"]], left_columns=(1,), caption="two rows")
    assert capsys.readouterr().out == " n  said\n 7  a\n12  bcdefg\ntwo rows\n"


def test_on_a_terminal_a_table_is_drawn_with_its_caption(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")
    print_table(["cell", "n"], ROWS, caption="two cells")
    lines = capsys.readouterr().out.splitlines()
    assert [len(line) for line in lines[:-1]] == [len(lines[0])] * 6
    assert "│ lstm       │      7 │" in lines
    assert "│ elman-long │ 12,345 │" in lines
    assert lines[-1].rstrip() == "two cells"  # at the left
    print_table(["cell", "n"], ROWS)
    assert "cells" not in capsys.readouterr().out


def test_what_is_said_goes_to_stderr(capsys):
    say("a line")
    assert capsys.readouterr() == ("", "a line\n")


def test_the_typed_command_can_be_pasted_again(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/usr/bin/elman", "score", "my model", "it's"])
    assert typed_command() == """elman score 'my model' 'it'"'"'s'"""


def run(decorator, *words):
    """A command with one option: what arrives, or the error."""
    command = click.command()(decorator(lambda **options: click.echo(repr(options))))
    found = CliRunner().invoke(command, words)
    if isinstance(found.exception, ConfigError):
        raise found.exception
    return found.output


def test_an_option_is_spelled_as_its_help_spells_it_and_knows_its_range():
    number = option("-n --count N", "How many.", "n", type=PositiveInt, default=1)
    assert "-n, --count N" in run(number, "--help")
    assert "How many. [" in run(number, "--help")
    assert run(number, "--count", "3") == "{'n': 3}\n"
    assert run(option("--flag", "Yes.", is_flag=True)) == "{'flag': False}\n"
    with pytest.raises(ConfigError, match=r"^-n/--count is 0; it must be "):
        run(number, "-n", "0")
    with pytest.raises(ConfigError, match=r"^-n/--count is '1+'…; it must be "):
        run(number, "-n", "1" * 101)


def test_a_number_of_a_hundred_digits_is_still_read_as_one():
    with pytest.raises(ConfigError, match="it must be "):
        run(option("-n", "N.", type=PositiveInt), "-n", "1" * 100)
    assert run(option("-n", "N.", type=PositiveInt), "-n", "0" * 99 + "7") == "{'n': 7}\n"


def test_several_numbers_have_commas_between_them_and_are_at_least_one():
    numbers = option("--lengths N,N", "How long.", type=NumberList())
    assert run(numbers, "--lengths", "10, 5,2147483647") == "{'lengths': (10, 5, 2147483647)}\n"
    for wrong in ("0", "1,0", "", "1,,2", "2147483648", "-1", "1.5", "\N{SUPERSCRIPT TWO}"):
        with pytest.raises(ConfigError, match=r"^--lengths is .*; it must be whole numbers, as in 10,20,50$"):
            run(numbers, f"--lengths={wrong}")
    assert NumberList().convert((3, 4), None, None) == (3, 4)
    with pytest.raises(ConfigError, match=r"^numbers is 'x'"):
        NumberList().convert("x", None, None)


def test_an_empty_name_is_no_folder_and_a_picture_needs_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(option("--out DIR", "Where.", type=FOLDER), "--out", "a") == f"{{'out': {Path('a')!r}}}\n"
    with pytest.raises(ConfigError):
        run(option("--out DIR", "Where.", type=FOLDER), "--out", "")
    pytest.importorskip("matplotlib")
    drawn = option("--picture FILE", "Where.", type=PICTURE)
    assert run(drawn, "--picture", "a.svg") == f"{{'picture': {Path('a.svg')!r}}}\n"
    with pytest.raises(ConfigError, match=r"^no/a\.svg: there is no folder no$"):
        run(drawn, "--picture", "no/a.svg")


def test_a_gpu_that_is_not_there_is_refused_but_completed(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert run(device_option) == "{'device': 'auto'}\n"
    with pytest.raises(ConfigError, match=r"^--device cuda: PyTorch finds no GPU; leave the option out$"):
        run(device_option, "--device", "cuda")
    command = click.command()(device_option(lambda device: None))
    with command.make_context("c", ["--device", "cuda"], resilient_parsing=True) as context:
        assert context.params == {"device": "cuda"}
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    assert run(device_option, "--device", "cuda") == "{'device': 'cuda'}\n"
