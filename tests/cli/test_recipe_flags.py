"""Flags of a recipe: several words after one, keys with dots, values that were not given."""

import click
import pytest
from click.testing import CliRunner

from elman.cli.recipe_flags import SpreadCommand, _repeat_option, with_recipe_flags
from elman.errors import ConfigError
from elman.ranges import PositiveInt
from elman.tasks.spec import Flag


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("--train a b --out c", "--train a --train b --out c"),
        ("--train a", "--train a"),
        ("--train=a b", "--train=a --train b"),
        ("--out c d", "--out c d"),
        ("--train a - --out c", "--train a --train - --out c"),
        ("--train - b", "--train - --train b"),
        ("--out c --train a b c", "--out c --train a --train b --train c"),
        ("--train a --out=c d", "--train a --out=c d"),
        ("a b", "a b"),
    ],
)
def test_words_after_an_option_that_takes_several_belong_to_it(typed, read):
    assert [*_repeat_option(typed.split(), {"--train"})] == read.split()


FLAGS = {
    "--train": Flag("data.train", "Files.", "FILE [FILE]", several=True, required=True),
    "--hidden": Flag("model.hidden", "Units.", "N", PositiveInt),
    "--no-crf": Flag("model.no_crf", "None.", type=bool),
}


def read(*words):
    found = []

    @with_recipe_flags(FLAGS)
    def command(data):
        found.append(data)

    made = click.command(cls=SpreadCommand)(click.option("--set", "sets", multiple=True)(command))
    done = CliRunner().invoke(made, words)
    if isinstance(done.exception, ConfigError):
        raise done.exception
    return found[0] if found else done.output


def test_flags_are_keys_of_a_recipe_and_set_comes_last():
    assert read("--train", "a") == {"data": {"train": "a"}}
    assert read("--train", "a", "b") == {"data": {"train": ("a", "b")}}
    assert read("--train", "a", "--hidden", "3", "--no-crf") == {
        "data": {"train": "a"},
        "model": {"hidden": 3, "no_crf": True},
    }
    assert read("--train", "a", "--hidden", "3", "--set", "model.hidden=4")["model"] == {"hidden": 4}
    assert "Missing option '--train'" in read("--hidden", "3")
    assert "Units. [" in read("--help")
    with pytest.raises(ConfigError, match=r"^--hidden is 0; it must be"):
        read("--train", "a", "--hidden", "0")
