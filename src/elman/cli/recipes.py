"""elman recipes: the recipes that come with Elman, and what they reach."""

from __future__ import annotations

import json
import tomllib

import click

from elman.cli.terminal import print_table
from elman.recipes.published_results import RESULTS
from elman.recipes.recipe_files import list_recipes, recipe_corpora

CAPTION = (
    "usual: a usual recurrent network; best: the best recurrent one that we know (docs/results.md names them)\n"
    "next:  elman data get recipe:NAME   then   elman train recipe:NAME --out DIR"
)


@click.command(short_help="List the recipes of published results.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
def recipes(as_json: bool) -> None:
    """List the recipes: task, corpus, published results and what Elman reaches.

    A recipe is a TOML file with the task, the data and every setting that is not the default.

    \b
    Examples:
      elman recipes
      elman train recipe:trec --out models/trec
    """
    rows = []
    for name, path in list_recipes().items():
        task = tomllib.loads(path.read_text(encoding="utf-8"))["task"]
        rows.append(
            {"recipe": name, "task": task, "corpus": recipe_corpora(path)[0], **RESULTS[name]._asdict()}
        )
    if as_json:
        click.echo(json.dumps({"recipes": rows}, ensure_ascii=False))
        return
    header = ["recipe", "task", "corpus", "metric", "usual", "best", "Elman"]
    print_table(header, [[*row.values()] for row in rows], caption=CAPTION, left_columns=(0, 1, 2, 3))
