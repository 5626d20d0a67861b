"""elman train: from one's own file, or from a recipe, to a model folder."""

from __future__ import annotations

from dataclasses import replace
from glob import escape, glob
from typing import Any

import click
from click.shell_completion import CompletionItem

from elman.cli.ordered_group import OrderedGroup
from elman.cli.recipe_flags import SpreadCommand, with_recipe_flags
from elman.cli.training_run import RunOptions, run_training, with_run_options
from elman.errors import ConfigError
from elman.recipes.recipe_files import PREFIX, find_recipe, list_recipes
from elman.tasks.registry import TASKS
from elman.tasks.spec import TaskSpec


class Train(OrderedGroup):
    """A group in which a file RECIPE.toml is a command too, and ``recipe:NAME`` that comes with Elman."""

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name.endswith(".toml") or name.startswith(PREFIX):
            return _recipe_command(name)
        return super().get_command(context, name)

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        """The tasks, and recipe files whose path begins so, also in the folders whose name does."""
        begun = escape(incomplete)
        recipes = sorted(glob(f"{begun}*.toml") + glob(f"{begun}*/*.toml"))
        if incomplete.startswith(PREFIX):
            recipes += [name for recipe in list_recipes() if (name := PREFIX + recipe).startswith(incomplete)]
        return super().shell_complete(context, incomplete) + [CompletionItem(path) for path in recipes]


@click.group(cls=Train, subcommand_metavar="TASK|recipe:NAME|RECIPE.toml ...")
def train() -> None:
    """Train a model: a task on your own file, or a recipe.

    \b
    Examples:
      elman train classifier --train questions.tsv --out models/questions
      elman train tagger --train train.conllu --column upos --out models/pos
      elman train lm --train book.txt --tokens chars --out models/book
      elman train seq2seq --train train.en train.de --out models/en-de
      elman train recipe:trec --out models/trec --set model.hidden=256      (elman recipes lists them)
      elman train recipes/trec.toml --out models/trec --resume
    """


def _task_command(spec: TaskSpec) -> click.Command:
    """``elman train TASK``, with the flags and the help of the task."""

    @with_recipe_flags(spec.flags)
    @with_run_options
    def command(options: RunOptions, data: dict[str, Any]) -> None:
        from elman.pipeline.choose_defaults import list_keys
        from elman.pipeline.recipe import build

        if data.get("task", spec.name) != spec.name:
            raise ConfigError(f"this is a run of elman train {spec.name}: leave out --set task={data['task']}")
        recipe = build({"task": spec.name} | data)
        run_training(recipe, replace(options, given=frozenset(list_keys(data))))

    several = any(flag.several for flag in spec.flags.values())
    make = click.command(
        spec.name,
        cls=SpreadCommand if several else click.Command,
        help=spec.help,
        short_help=spec.short_help,
        options_metavar=f"--train {spec.flags['--train'].metavar} --out DIR [OPTIONS]",
    )
    return make(command)


def _recipe_command(path: str) -> click.Command:
    @click.command(name=path, options_metavar="--out DIR [OPTIONS]")
    @with_run_options
    def recipe(options: RunOptions, sets: tuple[str, ...]) -> None:
        """Train by a recipe: a TOML file with the task, the data and every setting that is not the default.

        Recipes look for their data in the folder that the variable ELMAN_DATA names; `elman data get` puts it
        there. `elman recipes` lists those that come with Elman.

        \b
        Examples:
          elman train recipe:trec --out models/trec --set model.hidden=256
          elman train recipes/trec.toml --out models/trec --seeds 3
        """
        from elman.pipeline.recipe import read

        run_training(read(find_recipe(path), sets), options)

    return recipe


for task in TASKS.values():
    train.add_command(_task_command(task))
