"""What --help says: every verb explains itself, with examples that are right."""

import re

import click
import pytest

from elman.cli.app import elman as verbs
from tests.cli.typed import commands, parse


def helped(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=f"elman {name}", terminal_width=80)
    return command.get_help(context)


ALL = dict(commands())
EXAMPLES = {
    line.strip()
    for command in (verbs, *ALL.values())
    for line in helped("", command).splitlines()
    if re.match(r" +(elman|echo) ", line) and "VERB" not in line
}


@pytest.mark.parametrize("name", ALL)
def test_every_verb_explains_itself_with_an_example_of_its_own(name: str):
    said = helped(name, ALL[name])
    assert re.search(rf"Examples?:\n(.*\n)*?.*elman {re.escape(name)}", said)


def test_what_verbs_and_tasks_do_is_said_in_full_on_one_line():
    for group in (verbs, verbs.commands["train"]):
        _, _, listed = helped("", group).partition("Commands:\n")
        assert len(listed.splitlines()) == len(group.commands)
        assert "..." not in listed


@pytest.mark.parametrize("example", sorted(EXAMPLES))
def test_examples_can_be_typed(example: str):
    parse(example)


def test_there_are_examples():
    assert len(EXAMPLES) > 30
