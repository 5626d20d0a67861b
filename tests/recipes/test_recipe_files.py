"""The recipes that come with Elman: found by name, with results, on corpora that can be fetched."""

import re
import tomllib
from pathlib import Path

import pytest

from elman.corpora.catalogue import read_catalogue
from elman.errors import ConfigError
from elman.recipes import recipe_files
from elman.recipes.published_results import RESULTS
from elman.recipes.recipe_files import find_recipe, list_recipes, recipe_corpora

ROOT = Path(__file__).parents[2]


def test_recipes_are_found_beside_the_source():
    assert find_recipe("recipe:trec") == ROOT / "recipes" / "trec.toml"
    assert find_recipe("mine.toml") == Path("mine.toml")


def test_recipes_of_a_wheel_are_found_in_the_package(tmp_path, monkeypatch):
    (tmp_path / "some.toml").touch()
    monkeypatch.setattr(recipe_files, "__file__", str(tmp_path / "recipe_files.py"))
    assert find_recipe("recipe:some") == tmp_path / "some.toml"


def test_a_wheel_holds_the_recipes_where_they_are_looked_for():
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert build["force-include"] == {"recipes": "elman/recipes"}


@pytest.mark.parametrize(
    ("name", "hint"), [("trecc", "did you mean recipe:trec?"), ("xyz", "`elman recipes` lists them")]
)
def test_an_unknown_recipe_is_refused_with_the_nearest(name, hint):
    with pytest.raises(ConfigError, match=re.escape(f"unknown recipe {name!r}; {hint}")):
        find_recipe(f"recipe:{name}")


def test_every_recipe_reads_corpora_that_can_be_fetched():
    for name, path in list_recipes().items():
        assert recipe_corpora(path), name
        assert set(recipe_corpora(path)) <= set(read_catalogue()), name


def test_every_file_that_a_recipe_reads_is_in_the_catalogue():
    known = {f"{corpus.name}/{file.path}" for corpus in read_catalogue().values() for file in corpus.files}
    for name, path in list_recipes().items():
        assert set(re.findall(r'"\$ELMAN_DATA/([^"]+)"', path.read_text())) <= known, name


def test_every_recipe_has_its_results_and_they_stand_in_the_docs():
    said = (ROOT / "docs" / "results.md").read_text()
    assert set(RESULTS) == set(list_recipes())
    for name, result in RESULTS.items():
        for figure in re.findall(r"[\d.]+", f"{result.plain} {result.best} {result.ours}"):
            assert re.search(rf"(?<![\d.]){re.escape(figure)}", said), f"{name}: {figure}"
