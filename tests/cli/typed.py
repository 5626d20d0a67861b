"""Whether a line could be typed: verbs and options exist and values are valid; nothing is done."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import torch

import elman.cli.train
from elman.cli.app import elman as verbs

ROOT = Path(__file__).parents[2]
RECIPE = "recipes/trec.toml"


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every verb, every task of train, and a recipe."""
    for name, command in verbs.commands.items():
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {task}", inner) for task, inner in command.commands.items())
    recipe = verbs.commands["train"].get_command(click.Context(verbs), RECIPE)
    assert recipe
    yield f"train {RECIPE}", recipe


def parse(line: str) -> None:
    """Read a line as the command line does, settings of training too; what is wrong is raised."""
    parts = re.split(r" \| |  +| > ", line)
    (words,) = (shlex.split(part)[1:] for part in parts if part.startswith("elman "))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)  # where the recipes are
        patch.setattr(elman.cli.train, "run_training", lambda recipe, how: None)
        patch.setattr(torch.cuda, "is_available", lambda: True)
        for name, command in commands():
            if not name.startswith("train"):
                patch.setattr(command, "callback", lambda **options: None)
        verbs.main(words, standalone_mode=False)
